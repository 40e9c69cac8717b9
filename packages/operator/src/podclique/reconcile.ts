// SPDX-License-Identifier: Apache-2.0

// One pass over a PodClique: pods made and removed, gates lifted, status written.
import {
  cliqueErrorCode,
  eventSource,
  events,
  label,
  type Pod,
  type PodClique,
  podSchedulingGate,
} from '@grove/api'
import { isNotFound, type ReconcileContext, type Stored } from '@grove/kube'
import { cliqueInstanceOf } from '../clique-instance.ts'
import { CodedError, lastErrorsOf, PassFailed, textOf } from '../coded-error.ts'
import type { CliqueInstance } from '../layout.ts'
import { type ObjectKey, refOf } from '../object-key.ts'
import { pod } from '../objects/pod.ts'
import { type OperatorContext, timestamp } from '../operator-context.ts'
import { owningSet } from '../owning-set.ts'
import { resources } from '../resources.ts'
import { revisionOf } from '../revision-of-set.ts'
import { writeStatus } from '../status-write.ts'
import type { StoredClique, StoredSet } from '../stored.ts'
import { runAll, runSlowStart } from '../writes.ts'
import { planGates } from './gates.ts'
import { planScale } from './scale.ts'
import { planCliqueStatus } from './status.ts'

export async function reconcileClique(
  key: ObjectKey,
  { signal }: ReconcileContext,
  context: OperatorContext,
): Promise<void> {
  const { world } = context
  const clique = world.cliques.get(refOf(key)) as StoredClique | undefined
  if (!clique || clique.metadata.deletionTimestamp) return
  const set = owningSet(world, clique)
  // Gone or going: nothing of it is made again; the garbage collector takes the rest.
  if (!set || set.metadata.deletionTimestamp) return
  const instance = cliqueInstanceOf(set, clique)
  if (!instance) return
  let failure: unknown
  try {
    await syncPods(set, clique, instance, context, signal)
  } catch (error) {
    failure = error
  }
  await updateStatus(set, key, failure, context, signal)
  if (failure) throw failure
}

async function syncPods(
  set: StoredSet,
  clique: StoredClique,
  instance: CliqueInstance,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const { world, events: sink } = context
  const isCurrent = currentHash(set, clique)
  const scale = planScale(clique.spec.replicas, world.podsOf(clique), isCurrent)
  const failures: unknown[] = []

  if (scale.create.length) {
    const name = clique.spec.podSpec.schedulerName
    const backend = context.backends.find(name)
    if (!backend)
      throw new CodedError(
        'Sync',
        cliqueErrorCode.buildPod,
        `schedulerName "${name}" is not an enabled scheduler backend`,
      )
    const template = { set, clique, instance, backend, waiterImage: context.waiterImage }
    const made = await runSlowStart(
      scale.create.map(index => async () => {
        const wanted = buildPod(() => pod(template, index))
        try {
          const created = await world.client.create(resources.pods, wanted as Pod, { signal })
          sink.emit(clique, eventSource.podClique, events.podCreated(created.metadata.name))
        } catch (error) {
          sink.emit(clique, eventSource.podClique, events.podCreateFailed('', textOf(error)))
          throw new CodedError(
            'Sync',
            cliqueErrorCode.createPod,
            `Error creating pod ${wanted.spec?.hostname}`,
            error,
          )
        }
      }),
    )
    failures.push(...made.failures)
  }
  failures.push(...(await removePods(clique, scale.remove, context, signal)))
  failures.push(...(await releasePods(clique, instance, context, signal)))
  if (failures.length) throw new PassFailed(failures)
}

function buildPod<T>(build: () => T): T {
  try {
    return build()
  } catch (error) {
    throw new CodedError('Sync', cliqueErrorCode.buildPod, 'Error building pod', error)
  }
}

function removePods(
  clique: StoredClique,
  pods: readonly Pod[],
  { world, events: sink }: OperatorContext,
  signal: AbortSignal,
): Promise<unknown[]> {
  return runAll(
    pods.map(({ metadata }) => async () => {
      const ref = { name: metadata.name, namespace: metadata.namespace ?? '' }
      try {
        await world.client.delete(resources.pods, ref, {
          signal,
          ...(metadata.uid && { preconditions: { uid: metadata.uid } }),
        })
        sink.emit(clique, eventSource.podClique, events.podDeleted(metadata.name))
      } catch (error) {
        if (isNotFound(error)) return
        sink.emit(clique, eventSource.podClique, events.podDeleteFailed(textOf(error)))
        throw new CodedError('Sync', cliqueErrorCode.deletePod, `Error deleting pod ${metadata.name}`, error)
      }
    }),
  )
}

async function releasePods(
  clique: StoredClique,
  instance: CliqueInstance,
  { world }: OperatorContext,
  signal: AbortSignal,
): Promise<unknown[]> {
  const namespace = clique.metadata.namespace
  const { basePodGang } = instance
  const { release } = planGates({
    clique: instance.name,
    pods: world.podsOf(clique),
    gang: world.gangs.get({ namespace, name: instance.podGang }),
    base: basePodGang
      ? {
          gang: world.gangs.get({ namespace, name: basePodGang }),
          cliqueNamed: name => world.cliques.get({ namespace, name }),
        }
      : undefined,
  })
  return runAll(
    release.map(({ metadata }) => async () => {
      // Names the one gate to take away: those of others may change at the same moment.
      const patch = { spec: { schedulingGates: [{ name: podSchedulingGate, $patch: 'delete' }] } }
      try {
        await world.client.patch(
          resources.pods,
          { name: metadata.name, namespace },
          { strategic: patch },
          { signal },
        )
      } catch (error) {
        if (isNotFound(error)) return
        throw new CodedError(
          'Sync',
          cliqueErrorCode.removeGate,
          `Error removing the gate of pod ${metadata.name}`,
          error,
        )
      }
    }),
  )
}

async function updateStatus(
  set: StoredSet,
  key: ObjectKey,
  failure: unknown,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const { world, events: sink, configuration } = context
  const clique = world.cliques.get(refOf(key)) as Stored<PodClique> & StoredClique
  if (!clique || clique.metadata.deletionTimestamp) return
  const now = timestamp(context.clock)
  const plan = planCliqueStatus({
    set: set.metadata.name,
    clique,
    pods: world.podsOf(clique),
    podTemplateHash: clique.metadata.labels?.[label.podTemplateHash] ?? '',
    generationHash: generationReached(set, clique),
    isCurrent: currentHash(set, clique),
    onTotalLoss: configuration.gangTermination.onTotalLoss,
    now,
  })
  const status = {
    ...plan.status,
    lastErrors: failure ? lastErrorsOf(failure, cliqueErrorCode.listPods, now) : [],
  }
  if (await writeStatus(world, resources.podCliques, clique, status, { signal }))
    for (const event of plan.events) sink.emit(clique, eventSource.podClique, event)
}

/** The revision of a clique is the one that its parent wrote together with its spec. */
function currentHash(set: StoredSet, clique: StoredClique): (hash: string) => boolean {
  const wanted = clique.metadata.labels?.[label.podTemplateHash] ?? ''
  const revision = revisionOf(set)
  return hash => hash === wanted || revision.isCurrent(hash, wanted)
}

/** The generation that the clique stands for, once its own template is that of the set. */
function generationReached(set: StoredSet, clique: StoredClique): string | undefined {
  const revision = revisionOf(set)
  const own = clique.metadata.labels?.[label.podTemplateHash] ?? ''
  return revision.isCurrent(own, revision.hashOf(clique)) ? revision.generationHash : undefined
}
