// SPDX-License-Identifier: Apache-2.0

// Executes the plan of a PodCliqueSet step by step: finalizer, orphans, revision, gang termination, children and gangs.
import { eventSource, events, setErrorCode } from '@grove/api'
import { combined, executeOrThrow, nothingDone, type Outcome } from '../apply/execute.ts'
import { resources } from '../caches/resources.ts'
import { usesDevices } from '../devices/shared-claims.ts'
import { ComponentFailed, failuresOf, ReconcileFailed, throwIfAny } from '../errors/coded-error.ts'
import type { GangKey } from '../layout/gang-key.ts'
import { replicaCount } from '../layout/layout.ts'
import type { StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { adopt, orphansOfSet } from '../ownership/adoption.ts'
import { statusPlanners } from '../scaling-group/status-planners.ts'
import { timestamp } from '../state/conditions.ts'
import { isReplicaDue } from '../termination/confirmation.ts'
import { reportScheduledTerminations } from '../termination/notices.ts'
import { planTerminations } from '../termination/plan-set.ts'
import { terminateReplica } from '../termination/terminate.ts'
import type { Component, Components } from './child-component.ts'
import { replicasToCreate } from './children.ts'
import { components } from './components.ts'
import { syncGangs } from './gangs.ts'
import type { SeenChanges, SetsInSync } from './in-sync.ts'
import { observeChildren, type Replicas, revisionWitnesses } from './observe.ts'
import { announcement, finalizerOf, statusWrite } from './plan.ts'
import { removeSurplusReplicas } from './scale-in.ts'
import type { TokenSecrets } from './token-secret.ts'

/** The collaborators that the reconciles of all sets share. */
export interface SetParts {
  readonly context: OperatorContext
  readonly tokens: TokenSecrets
  readonly inSync: SetsInSync
  readonly replicas: Replicas
  /** The gang controller, which writes gangs. The set decides which gangs exist. */
  enqueueGang(key: GangKey): void
}

export interface SyncedSet {
  /** The set with the spec that was synced. */
  readonly set: StoredSet
  /** True if this reconcile has announced the revision. */
  readonly isAnnounced: boolean
  /** True if the children are in sync. If not, the update stays unchanged. */
  readonly isSynced: boolean
  readonly failures: readonly unknown[]
  /** True if there is more to create than one reconcile creates. */
  readonly hasMore: boolean
  /** When the next replica is due for gang termination, in milliseconds since the epoch. */
  readonly deadline: number | undefined
}

export async function syncSet(stored: StoredSet, parts: SetParts, signal: AbortSignal): Promise<SyncedSet> {
  const { context, inSync } = parts
  let set = stored
  let isAnnounced = false
  let hasMore = false
  let termination: Termination = { failures: [], deadline: undefined }
  const sync = async () => {
    await executeOrThrow(finalizerOf(stored), context, signal)
    set = context.caches.sets.get(stored.metadata) ?? stored
    const seen = inSync.changesOf(set)
    await adoptOrphans(set, context, signal)
    set = await announce(set, context, signal)
    isAnnounced = true
    // A failing termination does not stop the sync, and is retried.
    termination = await terminate(set, parts, signal)
    hasMore = await syncChildren(set, seen, parts, signal)
  }
  const failures = await failuresOf(sync())
  return {
    set,
    isAnnounced,
    isSynced: failures.length === 0,
    failures: [...failures, ...termination.failures],
    hasMore,
    deadline: termination.deadline,
  }
}

/** Runs before the revision is decided, because adopted children may have an older template. */
async function adoptOrphans(set: StoredSet, context: OperatorContext, signal: AbortSignal): Promise<void> {
  const orphans = orphansOfSet(set, context.caches)
  const code = setErrorCode.setControllerReference
  const adopted = await adopt(orphans, resources.podCliqueSets, set, code, context, signal)
  if (adopted > 0) context.events.emit(set, eventSource.podCliqueSet, events.orphansAdopted(adopted))
}

/** Announces a new revision in the status before any child follows it. */
async function announce(set: StoredSet, context: OperatorContext, signal: AbortSignal): Promise<StoredSet> {
  const { caches, clock } = context
  const status = announcement(set, () => revisionWitnesses(set, caches), timestamp(clock))
  if (!status) return set
  await executeOrThrow([statusWrite(set, status)], context, signal)
  return { ...set, status }
}

interface Termination {
  readonly failures: readonly unknown[]
  readonly deadline: number | undefined
}

/** Terminates replicas whose breach lasted too long. A failure for one replica does not stop the others. */
async function terminate(
  set: StoredSet,
  { context, replicas }: SetParts,
  signal: AbortSignal,
): Promise<Termination> {
  const children = observeChildren(set, context.caches)
  const breaches = replicas.all(set, replicaCount(set)).map(({ breach }) => breach)
  const plan = planTerminations(set, breaches, context.clock.now())
  const failures: unknown[] = []
  for (const { replica, breach } of plan.terminate) {
    const one = async () => {
      if (!(await isReplicaDue(set, replica, children, statusPlanners(context), context, signal))) return
      throwIfAny(await terminateReplica(set, replica, context, signal))
      context.decisions?.replicaTerminated({ set, replica, ...breach })
    }
    failures.push(...(await failuresOf(one())))
  }
  reportScheduledTerminations(set, plan.waiting, context)
  const deadlines = plan.waiting.map(({ deadline }) => deadline)
  return { failures, deadline: deadlines.length ? Math.min(...deadlines) : undefined }
}

/**
 * Syncs children and gangs, unless nothing has changed since they were last in sync. Returns whether there is more to create
 * than one reconcile creates.
 */
async function syncChildren(
  set: StoredSet,
  seen: SeenChanges,
  { context, inSync, tokens, enqueueGang }: SetParts,
  signal: AbortSignal,
): Promise<boolean> {
  const fingerprint = inSync.fingerprintOf(set, seen)
  if (inSync.isInSync(set, fingerprint)) return false
  inSync.forgetSync(set)
  const all = inSync.areGangsDue(set, fingerprint)
  const below = replicasToCreate(set, context.caches)
  const gangs = {
    name: 'PodGang',
    run: async () => {
      await syncGangs(set, { all, below }, context, enqueueGang, signal)
      return nothingDone
    },
  }
  const surplus = await removeSurplusReplicas(set, context, signal)
  const { groups, last, alongside } = components(set, below, context, tokens, signal)
  const parts = { groups: [...groups, [gangs, ...last]], alongside }
  const outcome = await syncComponents(parts, surplus.length > 0)
  const failures = [...surplus, ...outcome.failures]
  if (failures.length) throw new ReconcileFailed(failures)
  inSync.recordGangs(set, fingerprint)
  if (outcome.hasMore) return true
  // Devices are released when their pods are gone, but the fingerprint does not count changes of pods.
  if (!usesDevices(set, context.caches)) inSync.recordSync(set, fingerprint)
  return false
}

/** Returns every failure. After an earlier failure only the first group runs. */
export async function syncComponents(
  { groups: [first = [], ...rest], alongside }: Components,
  failedBefore: boolean,
): Promise<Outcome> {
  const outcome = await runGroup(first)
  if (failedBefore || outcome.failures.length) return outcome
  return combined([outcome, ...(await Promise.all([runGroups(rest), runGroup(alongside)]))])
}

async function runGroups(groups: readonly (readonly Component[])[]): Promise<Outcome> {
  const outcomes: Outcome[] = []
  for (const group of groups) {
    const outcome = await runGroup(group)
    outcomes.push(outcome)
    if (outcome.failures.length) break
  }
  return combined(outcomes)
}

async function runGroup(group: readonly Component[]): Promise<Outcome> {
  return combined(await Promise.all(group.map(run)))
}

async function run(component: Component): Promise<Outcome> {
  const outcome = await outcomeOf(component)
  const { name, next } = component
  if (outcome.failures.length)
    return { ...outcome, failures: outcome.failures.map(failure => new ComponentFailed(name, failure)) }
  return next ? combined([outcome, await run(next)]) : outcome
}

/** A component that throws has the same outcome as one that reports the failure. */
async function outcomeOf(component: Component): Promise<Outcome> {
  try {
    return await component.run()
  } catch (error) {
    return { ...nothingDone, failures: error instanceof ReconcileFailed ? error.errors : [error] }
  }
}
