// SPDX-License-Identifier: Apache-2.0

// Records each new revision of a set once. No object depends on the records, and a set works even if the operator lacks
// the permission to write them.
import { type ControllerRevision, eventSource, events, label } from '@grove/api'
import { isKubeError, messageOf, type Stored } from '@grove/kube'
import { execute, nothingDone, type Outcome } from '../apply/execute.ts'
import type { Intent, MergePatch } from '../apply/intent.ts'
import { resources } from '../caches/resources.ts'
import { setErrors } from '../errors/catalogue.ts'
import { cliqueInstanceOf } from '../layout/clique-instance.ts'
import type { StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { type HashesInUse, planHistory, revisionName, type revisionObject, templateKey } from './history.ts'

/** Skips at most this many names that objects of other owners have. */
const mostAttempts = 10

export async function syncRevisions(
  set: StoredSet,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<Outcome> {
  const { caches, configuration } = context
  const cache = caches.controllerRevisions
  if (!cache) return nothingDone
  const recorded = cache
    .byIndex('controller', set.metadata.uid)
    .filter(({ metadata }) => !metadata.deletionTimestamp)
  const plan = planHistory({
    set,
    recorded,
    limit: configuration.revisionHistory.limit,
    inUse: () => hashesInUse(set, context),
  })
  const { create, raise, relabel } = plan
  const patch = (object: Stored<ControllerRevision>, merge: MergePatch): Intent => ({
    kind: 'patch',
    resource: resources.controllerRevisions,
    object,
    merge,
  })
  const relabelled = { metadata: { labels: { [label.generationHash]: relabel?.generationHash } } }
  const outcome = await execute(
    [
      ...(raise ? [patch(raise.object, { revision: raise.revision })] : []),
      ...(relabel ? [patch(relabel.object, relabelled)] : []),
      ...plan.remove.map(
        (object): Intent => ({ kind: 'delete', resource: resources.controllerRevisions, object }),
      ),
    ],
    context,
    { signal },
  )
  const failures = [...(create ? await record(set, create, context, signal) : []), ...outcome.failures]
  const rejected = failures.filter(error => isKubeError(error, 'Forbidden'))
  if (rejected.length)
    context.events.emit(set, eventSource.podCliqueSet, events.revisionNotRecorded(messageOf(rejected[0])))
  const others = failures.filter(error => !isKubeError(error, 'Forbidden'))
  return { ...outcome, failures: others.map(setErrors.recordRevision) }
}

type Recorded = ReturnType<typeof revisionObject>

/** An object of another owner has this name. */
class NameTaken extends Error {}

/** Creates the record under the first free name. Returns the failures. */
async function record(
  set: StoredSet,
  first: Recorded,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  for (let attempt = 0; ; attempt++) {
    const name = attempt === 0 ? first.metadata.name : revisionName(set, attempt)
    const intent: Intent = {
      kind: 'create',
      resource: resources.controllerRevisions,
      object: { ...first, metadata: { ...first.metadata, name } },
      existing: {
        ownerUid: set.metadata.uid,
        conflict: () =>
          new NameTaken(`ControllerRevision ${name} exists and is not controlled by this PodCliqueSet`),
      },
    }
    const { failures } = await execute([intent], context, { signal })
    if (!(failures[0] instanceof NameTaken) || attempt >= mostAttempts) return failures
  }
}

/** The generations that children report or update to, and the templates of existing pods. */
function hashesInUse(set: StoredSet, { caches }: OperatorContext): HashesInUse {
  const { metadata, status } = set
  const groups = caches.groups.byIndex('controller', metadata.uid)
  const cliques = [metadata.uid, ...groups.map(group => group.metadata.uid)].flatMap(uid =>
    caches.cliques.byIndex('controller', uid),
  )
  const children = [...groups, ...cliques].flatMap(child => [
    child.status?.currentPodCliqueSetGenerationHash,
    child.status?.updateProgress?.podCliqueSetGenerationHash,
  ])
  const pods = cliques.flatMap(clique => {
    const name = cliqueInstanceOf(set, clique)?.template.name ?? ''
    return caches
      .podsOf(clique)
      .map(pod => templateKey(name, pod.metadata.labels?.[label.podTemplateHash] ?? ''))
  })
  const present = (hashes: readonly (string | undefined)[]) =>
    new Set(hashes.filter(hash => hash !== undefined))
  return { generations: present([status?.currentGenerationHash, ...children]), templates: present(pods) }
}
