// SPDX-License-Identifier: Apache-2.0

// The plan for a PodClique: pure functions from a snapshot and the time to intents. `planScale`, `planCliqueUpdate`
// and `planGates` decide; here their decisions become writes.
import { annotation, cliqueErrorCode, eventSource, events, label, type Pod } from '@grove/api'
import type { Create, Delete, Intent, RemoveGate } from '../apply/intent.ts'
import { resources } from '../caches/resources.ts'
import type { SharedClaims } from '../devices/shared-claims.ts'
import { cliqueErrors } from '../errors/catalogue.ts'
import { eachIndex } from '../layout/layout.ts'
import type { NewPod, StoredClique, StoredPod, StoredSet } from '../layout/stored.ts'
import { type PodContext, pod } from '../objects/pod.ts'
import { claimsOfClique } from '../objects/resource-claim.ts'
import { isToBeRelabelled } from '../ownership/take-over.ts'
import { revisionOf } from '../revision/set-revision.ts'
import { isUpdating } from '../state/child-state.ts'
import { timestampAt } from '../state/conditions.ts'
import { indexOf, isActive } from '../state/pod-state.ts'
import {
  cliqueUpdate,
  cliqueUpdateCondition,
  isOwnUpdate,
  select,
  withoutDeleted,
  withProgress,
} from '../update/clique-progress.ts'
import { currentHash, isOfWantedTemplate } from '../update/outdated-pods.ts'
import { isPaused } from '../update/set-update.ts'
import { planGates } from './gates.ts'
import type { CliqueSnapshot } from './observe.ts'
import { planScale, type ScalePlan } from './scale.ts'
import { type CliqueStatusPlan, planCliqueStatus } from './status.ts'

export function scaleOf({ set, clique, pods }: CliqueSnapshot, now: number): ScalePlan<StoredPod> {
  return planScale(clique.spec.replicas, pods, currentHash(set, clique), now)
}

/** The claims of the pods that exist, one of which may have an index beyond the replica count, and of those to create. */
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

/** Creates the missing pods. Throws a coded error where they cannot be built. */
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
 * The next step of the clique's update, in the order of its writes. The status names the pod before it is deleted, so that
 * an operator that starts meanwhile neither forgets it nor deletes another one as well.
 */
export function replacement({ set, clique, instance, pods }: CliqueSnapshot, now: number): Intent[][] {
  if (!isOwnUpdate(set, clique, instance)) return []
  const { plan, progress } = cliqueUpdate(set, clique, instance, pods, now)
  const replaced = new Set(plan.kind === 'discard' ? plan.pods : plan.kind === 'replace' ? [plan.pod] : [])
  const deletions = podDeletions(
    clique,
    pods.filter(one => replaced.has(one)),
  )
  const write = (status: unknown): Intent => ({
    kind: 'writeStatus',
    resource: resources.podCliques,
    object: clique,
    status,
  })
  if (plan.kind === 'discard') {
    const status = withoutDeleted(clique.status, pods, plan.pods)
    // Only a count of zero is read as a loss.
    return status?.scheduledReplicas === 0 ? [[write(status)], deletions] : [deletions]
  }
  if (plan.kind !== 'replace' || !progress) return []
  const selection = select(progress.readyPodsSelectedToUpdate, plan.pod.metadata.name, indexOf(plan.pod))
  const { status } = withProgress(clique, { ...progress, readyPodsSelectedToUpdate: selection })
  return [[write(withoutDeleted(status, pods, [plan.pod]))], deletions]
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

/** The pod with the count of failures from which its own replacement is delayed. */
function withFailures(wanted: NewPod, failures: number): NewPod {
  if (failures === 0) return wanted
  const annotations = { ...wanted.metadata.annotations, [annotation.consecutiveFailures]: String(failures) }
  return { ...wanted, metadata: { ...wanted.metadata, annotations } }
}

/** The clique with the hash that it gets when it is taken over: new pods then need no relabelling. */
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

export interface PlannedStatus extends CliqueStatusPlan {
  /** Time until the update may go on, because the template has stopped changing; 0 if it does not wait. */
  readonly stabilizesInMs: number
}

export function planStatus(snapshot: StatusSnapshot, now: number): PlannedStatus {
  const { set, instance, pods, configuration } = snapshot
  const { plan: next, progress } = cliqueUpdate(set, snapshot.clique, instance, pods, now)
  const clique = withProgress(snapshot.clique, progress)
  const plan = planCliqueStatus({
    set: set.metadata.name,
    clique,
    pods,
    podTemplateHash: clique.metadata.labels?.[label.podTemplateHash] ?? '',
    // The clique stands for the set's generation once its own template is that of the set.
    generationHash: isOfWantedTemplate(set, clique) ? revisionOf(set).generationHash : undefined,
    isCurrent: currentHash(set, snapshot.clique),
    onTotalLoss: configuration.gangTermination.onTotalLoss,
    isLeaving: !snapshot.isWanted,
    update: cliqueUpdateCondition(next),
    paused: isPaused(set),
    now: timestampAt(now),
  })
  return { ...plan, stabilizesInMs: isUpdating(clique) && next.kind === 'wait' ? (next.retryInMs ?? 0) : 0 }
}
