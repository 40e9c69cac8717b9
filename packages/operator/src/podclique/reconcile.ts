// SPDX-License-Identifier: Apache-2.0

// One pass over a PodClique: pods made and removed, gates lifted, status written.
import {
  cliqueErrorCode,
  eventSource,
  events,
  label,
  type Pod,
  type PodClique,
  type PodCliqueStatus,
  podSchedulingGate,
} from '@grove/api'
import { isNotFound, type ReconcileContext, type ReconcileResult, type Stored } from '@grove/kube'
import { cliqueInstanceOf, isWanted, numberLabel } from '../clique-instance.ts'
import { CodedError, lastErrorsOf, PassFailed, textOf } from '../coded-error.ts'
import { type CliqueInstance, range } from '../layout.ts'
import { type ObjectKey, refOf } from '../object-key.ts'
import { pod } from '../objects/pod.ts'
import { claimsOfClique } from '../objects/resource-claim.ts'
import { type OperatorContext, timestamp } from '../operator-context.ts'
import { mergePatch } from '../owned-fields.ts'
import { owningSet } from '../owning-set.ts'
import { isUpdatingSet, mayUpdate } from '../podcliqueset/update.ts'
import { resources } from '../resources.ts'
import { templateHashOfClique } from '../revision.ts'
import { revisionOf } from '../revision-of-set.ts'
import { syncSharedClaims } from '../shared-claims.ts'
import { writeStatus } from '../status-write.ts'
import type { StoredClique, StoredSet } from '../stored.ts'
import { isToBeRenamed, releaseForeign } from '../take-over.ts'
import { runAll, runSlowStart } from '../writes.ts'
import { planGates } from './gates.ts'
import { indexOf, isActive, isReady, templateHashOf } from './pod-state.ts'
import { planScale } from './scale.ts'
import { planCliqueStatus } from './status.ts'
import { planCliqueUpdate } from './update.ts'
import { cliqueProgress } from './update-progress.ts'

export async function reconcileClique(
  key: ObjectKey,
  { signal }: ReconcileContext,
  context: OperatorContext,
): Promise<ReconcileResult | undefined> {
  const { world } = context
  const clique = world.cliques.get(refOf(key)) as StoredClique | undefined
  if (!clique) return undefined
  if (clique.metadata.deletionTimestamp) {
    await releaseForeign(resources.podCliques, clique as Stored<PodClique>, context, signal)
    return undefined
  }
  const set = owningSet(world, clique)
  // Gone or going: nothing of it is made again; the garbage collector takes the rest.
  if (!set || set.metadata.deletionTimestamp) return undefined
  const instance = cliqueInstanceOf(set, clique)
  if (!instance) return undefined
  const replaced: Pod[] = []
  let failure: unknown
  try {
    await syncPods(set, clique, instance, context, signal, replaced)
  } catch (error) {
    failure = error
  }
  const waitMs = await updateStatus(set, key, instance, failure, replaced, context, signal)
  if (failure) throw failure
  return waitMs > 0 ? { requeueAfter: waitMs } : undefined
}

async function syncPods(
  set: StoredSet,
  clique: StoredClique,
  instance: CliqueInstance,
  context: OperatorContext,
  signal: AbortSignal,
  replaced: Pod[],
): Promise<void> {
  const { world, events: sink } = context
  const isCurrent = currentHash(set, clique)
  await syncClaims(set, clique, instance, context, signal)
  const scale = planScale(clique.spec.replicas, world.podsOf(clique), isCurrent)
  const failures: unknown[] = []

  if (scale.create.length && isWanted(set, instance, world)) {
    const name = clique.spec.podSpec.schedulerName
    const backend = context.backends.find(name)
    if (!backend)
      throw new CodedError(
        'Sync',
        cliqueErrorCode.buildPod,
        `schedulerName "${name}" is not an enabled scheduler backend`,
      )
    const template = {
      set,
      clique: underOurName(set, clique),
      instance,
      backend,
      waiterImage: context.waiterImage,
    }
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
  if (failures.length === 0 && isOwnUpdate(set, clique, instance)) {
    const { remove } = planCliqueUpdate({
      replicas: clique.spec.replicas,
      pods: world.podsOf(clique),
      isCurrent,
    })
    failures.push(...(await removePods(clique, remove, context, signal)))
    replaced.push(...remove.filter(isReady))
  }
  failures.push(...(await releasePods(clique, instance, context, signal)))
  if (failures.length) throw new PassFailed(failures)
}

/** A claim of a pod that is still there is kept, although its index may be beyond the wanted number. */
function syncClaims(
  set: StoredSet,
  clique: StoredClique,
  instance: CliqueInstance,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const held = new Set(context.world.podsOf(clique).filter(isActive).map(indexOf))
  return syncSharedClaims(
    {
      set,
      ownerUid: clique.metadata.uid,
      entries: instance.template.resourceSharing ?? [],
      wanted: find => claimsOfClique(set, instance, clique, range(0, clique.spec.replicas), find),
      inUse: claim => held.has(numberLabel(claim.metadata.labels, label.podIndex)),
      code: cliqueErrorCode.syncResourceClaim,
    },
    context,
    signal,
  )
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

/** Members of a scaling group are replaced by their group, never pod by pod. */
function isOwnUpdate(set: StoredSet, clique: StoredClique, instance: CliqueInstance): boolean {
  const revision = revisionOf(set)
  const own = clique.metadata.labels?.[label.podTemplateHash] ?? ''
  // Only when set and clique speak of the same template: between two quick edits one may be ahead of the other.
  return !instance.group && mayUpdate(set, instance.setReplica) && own === revision.hashOf(clique)
}

async function updateStatus(
  set: StoredSet,
  key: ObjectKey,
  instance: CliqueInstance,
  failure: unknown,
  replaced: readonly Pod[],
  context: OperatorContext,
  signal: AbortSignal,
): Promise<number> {
  const { world, events: sink, configuration, statusPace } = context
  const stored = world.cliques.get(refOf(key)) as Stored<PodClique> & StoredClique
  if (!stored || stored.metadata.deletionTimestamp) return 0
  const now = timestamp(context.clock)
  const pods = world.podsOf(stored)
  const isCurrent = currentHash(set, stored)
  const updateProgress = cliqueProgress({
    before: revisionOf(set).renamed(stored.status?.updateProgress, stored),
    generationHash: revisionOf(set).generationHash,
    podTemplateHash: stored.metadata.labels?.[label.podTemplateHash] ?? '',
    outdated: pods.some(pod => isActive(pod) && !isCurrent(templateHashOf(pod) ?? '')) || replaced.length > 0,
    mayUpdate: isOwnUpdate(set, stored, instance),
    onDelete: set.spec.updateStrategy?.type === 'OnDelete',
    replaced,
    now,
  })
  const clique: typeof stored = updateProgress
    ? { ...stored, status: { ...emptyStatus, ...stored.status, updateProgress } }
    : stored
  const plan = planCliqueStatus({
    set: set.metadata.name,
    clique,
    pods,
    podTemplateHash: clique.metadata.labels?.[label.podTemplateHash] ?? '',
    generationHash: generationReached(set, clique),
    isCurrent,
    onTotalLoss: configuration.gangTermination.onTotalLoss,
    now,
  })
  const status = {
    ...plan.status,
    lastErrors: failure ? lastErrorsOf(failure, cliqueErrorCode.listPods, now) : [],
  }
  if (!mergePatch(stored.status, status)) return 0
  const urges = failure !== undefined || isUpdatingSet(set) || isAwaited(stored, status, instance, context)
  const waitMs = urges ? 0 : statusPace.waitMs(stored.metadata.uid)
  if (waitMs > 0) return waitMs
  await writeStatus(world, resources.podCliques, stored, status, { signal })
  statusPace.wrote(stored.metadata.uid)
  for (const event of plan.events) sink.emit(stored, eventSource.podClique, event)
  return 0
}

/** Whether others wait for what this status says: that the clique serves, or that gangs behind it may follow. */
function isAwaited(
  clique: StoredClique,
  status: PodCliqueStatus,
  { podGang, basePodGang }: CliqueInstance,
  { world }: OperatorContext,
): boolean {
  const minimum = clique.spec.minAvailable ?? clique.spec.replicas
  const before = clique.status
  const crosses = (old: number | undefined, now: number, threshold: number) =>
    (old ?? 0) >= threshold !== now >= threshold
  if (crosses(before?.readyReplicas, status.readyReplicas, minimum)) return true
  if (crosses(before?.readyReplicas, status.readyReplicas, clique.spec.replicas)) return true
  const hasFollowers =
    world.cliques.countByIndex('basePodGang', `${clique.metadata.namespace}/${podGang}`) > 0
  return !basePodGang && hasFollowers && crosses(before?.scheduledReplicas, status.scheduledReplicas, minimum)
}

const emptyStatus = { readyReplicas: 0, updatedReplicas: 0, scheduleGatedReplicas: 0, scheduledReplicas: 0 }

/** Whether a clique is of the wanted template; then its pods are measured by that, else by what the clique says. */
function isUpToDate(set: StoredSet, clique: StoredClique): boolean {
  return revisionOf(set).isCurrent(clique, templateHashOfClique(clique))
}

/** The clique as it will be named when it has been taken over: new pods need not be renamed after it. */
function underOurName(set: StoredSet, clique: StoredClique): StoredClique {
  if (!isToBeRenamed(set, clique)) return clique
  const labels = { ...clique.metadata.labels, [label.podTemplateHash]: revisionOf(set).hashOf(clique) }
  return { ...clique, metadata: { ...clique.metadata, labels } }
}

/** The revision of a clique is the one that its parent wrote together with its spec. */
function currentHash(set: StoredSet, clique: StoredClique): (hash: string) => boolean {
  const own = templateHashOfClique(clique)
  if (!isUpToDate(set, clique)) return hash => hash === own
  return hash => hash === own || revisionOf(set).isCurrent(clique, hash)
}

/** The generation that the clique stands for, once its own template is that of the set. */
function generationReached(set: StoredSet, clique: StoredClique): string | undefined {
  return isUpToDate(set, clique) ? revisionOf(set).generationHash : undefined
}
