// SPDX-License-Identifier: Apache-2.0

// The plan for a PodClique: pure functions from a snapshot and the time to intents. `planScale`, `planCliqueUpdate` and
// `planGates` decide; this file turns their decisions into writes.
import {
  annotation,
  cliqueErrorCode,
  eventSource,
  events,
  label,
  type Pod,
  type PodCliqueStatus,
} from '@grove/api'
import type { ChildReport } from '../apply/child-status.ts'
import type { Create, Delete, Intent, RemoveGate } from '../apply/intent.ts'
import { mostCreated } from '../apply/writes.ts'
import { resources } from '../caches/resources.ts'
import type { SharedClaims } from '../devices/shared-claims.ts'
import { cliqueErrors } from '../errors/catalogue.ts'
import { ComponentFailed } from '../errors/coded-error.ts'
import { eachIndex } from '../layout/layout.ts'
import { keyOf } from '../layout/object-key.ts'
import type { NewPod, StoredClique, StoredPod, StoredSet } from '../layout/stored.ts'
import { type PodContext, pod } from '../objects/pod.ts'
import { claimsOfClique } from '../objects/resource-claim.ts'
import { isToBeRelabelled } from '../ownership/take-over.ts'
import { templateHashOfClique } from '../revision/revision.ts'
import { revisionOf } from '../revision/set-revision.ts'
import { isUpdating } from '../state/child-state.ts'
import { timestampAt } from '../state/conditions.ts'
import { indexOf, isActive } from '../state/pod-state.ts'
import { planOnce } from '../update/child-update.ts'
import { hasWantedTemplate } from '../update/clique-state.ts'
import {
  type CliqueUpdate,
  mayReplacePods,
  planCliqueUpdate,
  statusBeforeDeletion,
  withCliqueProgress,
} from '../update/clique-update.ts'
import { currentHash } from '../update/outdated-pods.ts'
import { isPaused } from '../update/set-progress.ts'
import { planGates } from './gates.ts'
import type { CliqueSnapshot } from './observe.ts'
import { planScale, type ScalePlan } from './scale.ts'
import { type CliqueStatusPlan, isAwaited, planCliqueStatus } from './status.ts'

export type UpdatePlanner = (snapshot: CliqueSnapshot) => CliqueUpdate

/** Plans the update once for each state of the clique and its pods. */
export function updatePlanner(now: number): UpdatePlanner {
  return planOnce(
    ({ set, clique, pods }) => [set, clique, ...pods],
    ({ set, clique, instance, pods }) => planCliqueUpdate(set, clique, instance, pods, now),
  )
}

/** The error for a clique that no template of its set defines. */
export function unknownClique({
  set,
  clique,
}: {
  readonly set: StoredSet
  readonly clique: StoredClique
}): Error {
  const error = cliqueErrors.unknownClique(keyOf(set), clique.metadata.name)()
  return new ComponentFailed('Pod', error)
}

export function scaleOf({ set, clique, pods }: CliqueSnapshot, now: number): ScalePlan<StoredPod> {
  return planScale(clique.spec.replicas, pods, currentHash(revisionOf(set), clique), now)
}

/** The claims of existing pods, whose indexes may be above the replica count, and of pods to create. */
export function claimsOf({ set, clique, instance, pods }: CliqueSnapshot): SharedClaims {
  const { replicas } = clique.spec
  const held = pods.filter(isActive).flatMap(pod => indexOf(pod) ?? [])
  const beyond = new Set(held.filter(index => index >= replicas))
  const indexes = {
    *[Symbol.iterator]() {
      yield* eachIndex(0, replicas)
      yield* beyond
    },
  }
  return {
    set,
    ownerUid: clique.metadata.uid,
    entries: instance.template.resourceSharing ?? [],
    wanted: find => claimsOfClique(set, instance, clique, indexes, find),
    code: cliqueErrorCode.syncResourceClaim,
  }
}

export interface MissingPods {
  readonly scale: ScalePlan<StoredPod>
  /** True if one reconcile cannot create all of them. */
  readonly hasMore: boolean
  /**
   * A kubelet that mounts a Secret without a token refreshes it much later, so the token must exist before the pods.
   */
  readonly needToken: boolean
}

/**
 * The pods to create; undefined if there are none, or while the replica is being removed. The end of the removal
 * enqueues the clique.
 */
export function missingPods(snapshot: CliqueSnapshot, now: number): MissingPods | undefined {
  const scale = scaleOf(snapshot, now)
  if (scale.create.length === 0 || !snapshot.isWanted || snapshot.isBeingRemoved) return undefined
  const { startsAfter = [] } = snapshot.clique.spec
  return { scale, hasMore: scale.create.length >= mostCreated, needToken: startsAfter.length > 0 }
}

/** Creates the missing pods. Throws a coded error if they cannot be built. */
export function podCreations(snapshot: CliqueSnapshot, scale: ScalePlan): Create<Pod>[] {
  const { set, instance, scheduler, configuration, waiterImage } = snapshot
  if (scale.create.length === 0) return []
  if (!scheduler.backend) throw cliqueErrors.schedulerNotEnabled(scheduler.name)()
  const clique = withOwnHash(set, snapshot.clique)
  const context = { set, clique, instance, backend: scheduler.backend, configuration, waiterImage }
  return scale.create.map(index => {
    const object = withFailures(built(context, index), scale.failures.get(index) ?? 0)
    return {
      kind: 'create',
      resource: resources.pods,
      object: object as Pod,
      priority: 'user',
      error: cliqueErrors.createPod(object.spec?.hostname ?? ''),
      report: {
        about: snapshot.clique,
        source: eventSource.podClique,
        done: ({ metadata }) => events.podCreated(metadata.name),
        failed: error => events.podCreateFailed('', error),
      },
    }
  })
}

export function podDeletions(clique: StoredClique, pods: readonly StoredPod[]): Delete<Pod>[] {
  return pods.map(object => ({
    kind: 'delete',
    resource: resources.pods,
    object,
    error: cliqueErrors.deletePod(object.metadata.name),
    report: {
      about: clique,
      source: eventSource.podClique,
      done: ({ metadata }) => events.podDeleted(metadata.name),
      failed: events.podDeleteFailed,
    },
  }))
}

/**
 * The next step of the clique's update, in the order of its writes. The status names the pod before it is deleted, so
 * that an operator that restarts in between neither forgets the pod nor deletes a second one.
 */
export function replacement(
  { set, clique, instance, pods }: CliqueSnapshot,
  update: CliqueUpdate,
): Intent[][] {
  const { plan } = update
  if (!mayReplacePods(set, clique, instance)) return []
  if (plan.kind !== 'discard' && plan.kind !== 'replace') return []
  const replaced = new Set((plan.kind === 'discard' ? plan.units : [plan.unit]).map(({ pod }) => pod))
  const deletions = podDeletions(
    clique,
    pods.filter(one => replaced.has(one)),
  )
  const status = statusBeforeDeletion(clique, update, pods)
  if (!status) return [deletions]
  return [[{ kind: 'writeStatus', resource: resources.podCliques, object: clique, status }], deletions]
}

export function gateRemovals({ instance, pods, gang, base }: CliqueSnapshot): RemoveGate[] {
  return planGates({ clique: instance.name, pods, gang, base }).release.map(one => ({
    kind: 'removeGate',
    pod: one,
    error: cliqueErrors.removeGate(one.metadata.name),
  }))
}

function built(context: PodContext, index: number): NewPod {
  try {
    return pod(context, index)
  } catch (error) {
    throw cliqueErrors.buildPod(error)
  }
}

/** Sets the failure count of the pod, from which the delay of its own replacement follows. */
function withFailures(wanted: NewPod, failures: number): NewPod {
  if (failures === 0) return wanted
  const annotations = { ...wanted.metadata.annotations, [annotation.consecutiveFailures]: String(failures) }
  return { ...wanted, metadata: { ...wanted.metadata, annotations } }
}

/** The clique with the hash that it gets when it is taken over. New pods then need no relabelling. */
function withOwnHash(set: StoredSet, clique: StoredClique): StoredClique {
  if (!isToBeRelabelled(set, clique)) return clique
  const labels = { ...clique.metadata.labels, [label.podTemplateHash]: revisionOf(set).hashOf(clique) }
  return { ...clique, metadata: { ...clique.metadata, labels } }
}

/** The part of a snapshot that determines the status. Gang termination plans it for pods that it has listed itself. */
export type StatusSnapshot = Pick<
  CliqueSnapshot,
  'set' | 'clique' | 'instance' | 'isWanted' | 'configuration'
> & { readonly pods: readonly Pod[] }

export function planStatus(snapshot: StatusSnapshot, update: CliqueUpdate, now: number): CliqueStatusPlan {
  const { set, clique, pods, configuration } = snapshot
  const revision = revisionOf(set)
  return planCliqueStatus({
    set: set.metadata.name,
    clique: withCliqueProgress(clique, update),
    pods,
    podTemplateHash: templateHashOfClique(clique),
    // The clique reports the generation of the set once its own template equals that of the set.
    generationHash: hasWantedTemplate(clique, revision) ? revision.generationHash : undefined,
    isCurrent: currentHash(revision, clique),
    onTotalLoss: configuration.gangTermination.onTotalLoss,
    isLeaving: !snapshot.isWanted,
    update: update.condition,
    paused: isPaused(set),
    now: timestampAt(now),
  })
}

/**
 * The report of a reconcile. Undefined for a clique whose replica is being deleted: its pods are deleted on purpose,
 * and each count would cost a write per pod. Failures are reported in any case.
 */
export function statusReport(
  snapshot: CliqueSnapshot,
  planUpdate: UpdatePlanner,
  failure: unknown,
  now: number,
): ChildReport<PodCliqueStatus> | undefined {
  if (failure === undefined && (snapshot.isBeingRemoved || !snapshot.isWanted)) return undefined
  const update = planUpdate(snapshot)
  return {
    plan: planStatus(snapshot, update, now),
    isUrgent: status => isUpdating(snapshot.set) || isAwaited(snapshot, status),
    retryInMs: update.retryInMs,
  }
}
