// SPDX-License-Identifier: Apache-2.0

// Writes down each new revision of a set, once. Nothing waits for it, and a set lives on where it is not allowed.
import { type ControllerRevision, eventSource, events, label, setErrorCode } from '@grove/api'
import { isAlreadyExists, isKubeError, isNotFound, type Stored } from '@grove/kube'
import { patchObject, runAll, type Task } from '../apply/writes.ts'
import { resources } from '../caches/resources.ts'
import { CodedError, ReconcileFailed, textOf } from '../errors/coded-error.ts'
import { cliqueInstanceOf } from '../layout/clique-instance.ts'
import { isControlledBy } from '../layout/owner.ts'
import type { StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { type HashesInUse, planHistory, revisionName, type revisionObject, templateKey } from './history.ts'

/** Names that others hold are passed over, but not for ever. */
const mostAttempts = 10

export async function syncRevisions(
  set: StoredSet,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const { caches, configuration } = context
  const cache = caches.controllerRevisions
  if (!cache) return
  const recorded = cache
    .byIndex('controller', set.metadata.uid)
    .filter(({ metadata }) => !metadata.deletionTimestamp)
  const plan = planHistory({
    set,
    recorded,
    limit: configuration.revisionHistory.limit,
    inUse: () => hashesInUse(set, context),
  })
  const { client } = caches
  const { create, raise, relabel } = plan
  const patch = (record: Stored<ControllerRevision>, merge: Readonly<Record<string, unknown>>) =>
    patchObject(caches, resources.controllerRevisions, record, { merge }, { signal })
  const tasks: Task[] = [
    ...(create ? [() => record(set, create, context, signal)] : []),
    ...(raise ? [() => patch(raise.object, { revision: raise.revision })] : []),
    ...(relabel
      ? [
          () =>
            patch(relabel.object, {
              metadata: { labels: { [label.generationHash]: relabel.generationHash } },
            }),
        ]
      : []),
    ...plan.remove.map(({ metadata: { name, namespace, uid } }) => async () => {
      try {
        await client.delete(
          resources.controllerRevisions,
          { name, namespace },
          { signal, preconditions: { uid } },
        )
      } catch (error) {
        if (!isNotFound(error)) throw error
      }
    }),
  ]
  const failures = await runAll(tasks)
  const refused = failures.filter(error => isKubeError(error, 'Forbidden'))
  if (refused.length)
    context.events.emit(set, eventSource.podCliqueSet, events.revisionNotRecorded(textOf(refused[0])))
  const others = failures.filter(error => !isKubeError(error, 'Forbidden'))
  if (others.length)
    throw new ReconcileFailed(
      others.map(
        error =>
          new CodedError('Sync', setErrorCode.syncRevision, 'Error recording the revision of the set', error),
      ),
    )
}

type Recorded = ReturnType<typeof revisionObject>

async function record(
  set: StoredSet,
  first: Recorded,
  { caches }: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const name = attempt === 0 ? first.metadata.name : revisionName(set, attempt)
    const wanted = { ...first, metadata: { ...first.metadata, name } }
    try {
      await caches.client.create(resources.controllerRevisions, wanted, { signal })
      return
    } catch (error) {
      if (!isAlreadyExists(error) || attempt >= mostAttempts) throw error
      const { namespace } = set.metadata
      const found = await caches.client.find(resources.controllerRevisions, { name, namespace }, { signal })
      // Ours, only the watch has not shown it yet: its coming is not news, the next pass will find it.
      if (found && isControlledBy(found, set.metadata.uid)) return
    }
  }
}

/** What children report to stand at or to go to, and what living pods were made from. */
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
