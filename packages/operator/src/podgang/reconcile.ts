// SPDX-License-Identifier: Apache-2.0

// One pass over a PodGang: the object itself, what it lists, and whether it is complete.
import { eventSource, events, kinds, type PodGang, setErrorCode, type TopologyLevel } from '@grove/api'
import {
  type Change,
  isAlreadyExists,
  type KubeObject,
  type ReconcileContext,
  type ReconcileResult,
  type Stored,
} from '@grove/kube'
import { removalAfterMs } from '../apply/removals-under-way.ts'
import { writeStatus } from '../apply/status-write.ts'
import { patchObject } from '../apply/writes.ts'
import { resources } from '../caches/resources.ts'
import { CodedError, isNamespaceTerminating, textOf } from '../errors/coded-error.ts'
import { type GangKey, gangInstanceOf, parseGangKey } from '../layout/gang-key.ts'
import type { PodGangInstance } from '../layout/layout.ts'
import { isTemplateTooLarge } from '../layout/limits.ts'
import { keyOf, type ObjectKey } from '../layout/object-key.ts'
import { isControlledBy } from '../layout/owner.ts'
import type { StoredGang, StoredSet } from '../layout/stored.ts'
import { topologyName } from '../layout/topology.ts'
import type { OperatorContext } from '../operator-context.ts'
import { schedulerOf } from '../schedulers/registry.ts'
import { findCondition, timestamp } from '../state/conditions.ts'
import type { GangFailures } from './failures.ts'
import { type GangPlan, planGang, statusWith } from './plan.ts'
import { SchedulerObjects } from './scheduler-objects.ts'

/**
 * A gang whose pods are just being made is not created until they are there: then one request says everything. It
 * never waits longer than this, so that a gang whose pods cannot be made is seen.
 */
export const creationGraceMs = 3_000

/** What a gang lacks is told when it has lacked something for so long: most of it is made again within moments. */
export const lackGraceMs = 2_000

export class GangReconciler {
  readonly #context: OperatorContext
  readonly #failures: GangFailures
  /** Since when gangs are not complete, or since their status last said why. */
  readonly #incompleteSince = new Map<GangKey, number>()
  /** Gangs that were looked at, by the namespace and name that they and their schedulers' objects have. */
  readonly #keys = new Map<ObjectKey, GangKey>()
  readonly #schedulerObjects: SchedulerObjects

  constructor(context: OperatorContext, failures: GangFailures) {
    this.#context = context
    this.#failures = failures
    this.#schedulerObjects = new SchedulerObjects(context)
  }

  /**
   * The gang to look at again because it or its scheduler's objects were changed: by us as well, for the answer to a write of
   * ours may be the first that tells of somebody else's.
   */
  gangToRepair(change: Change<KubeObject>): GangKey | undefined {
    const name = keyOf((change.new ?? change.old) as KubeObject)
    const key = this.#keys.get(name)
    // Remembered again by the pass that makes it anew.
    if (change.type === 'delete') this.#keys.delete(name)
    return key
  }

  async reconcile(key: GangKey, { signal }: ReconcileContext): Promise<ReconcileResult | undefined> {
    try {
      const result = await this.#bringAbout(key, signal)
      this.#failures.clear(key)
      return result
    } catch (error) {
      if (!isNamespaceTerminating(error)) this.#failures.record(key, error)
      throw error
    }
  }

  async #bringAbout(key: GangKey, signal: AbortSignal): Promise<ReconcileResult | undefined> {
    const { caches, removals } = this.#context
    const { namespace, set: setName } = parseGangKey(key)
    const set = caches.sets.get({ namespace, name: setName }) as StoredSet | undefined
    const instance =
      set && !set.metadata.deletionTimestamp && !isTemplateTooLarge(set, this.#context.configuration)
        ? gangInstanceOf(set, key, group => caches.groups.get({ namespace, name: group })?.spec.replicas ?? 0)
        : undefined
    if (!set || !instance) {
      this.#incompleteSince.delete(key)
      return undefined
    }
    this.#keys.set(`${namespace}/${instance.name}`, key)
    // Nobody reads how its pods become fewer: it goes with them, or they are followed by others.
    if (removals.has(set, instance.setReplica)) return { requeueAfter: removalAfterMs }
    const existing = caches.gangs.get({ namespace, name: instance.name })
    // One that goes, or is left from a set of the same name and collected soon: its end wakes us.
    if (existing && (existing.metadata.deletionTimestamp || isOfFormerSet(existing, set))) return undefined
    if (existing && !isControlledBy(existing, set.metadata.uid))
      throw new CodedError(
        'Sync',
        setErrorCode.setControllerReference,
        `PodGang ${keyOf(existing)} exists and is controlled by somebody else; remove it or rename the PodCliqueSet`,
      )
    const plan = this.#plan(set, instance, existing)
    const incompleteMs = this.#incompleteMs(key, plan.isComplete)
    if (plan.create && !plan.isComplete && incompleteMs < creationGraceMs)
      return { requeueAfter: creationGraceMs - incompleteMs }
    const gang = await this.#write(set, existing, plan, signal)
    if (!gang) return undefined
    // Before the gang is called complete: no pod is let go that its scheduler would not know.
    await this.#schedulerObjects.sync(set, gang as StoredGang, signal)
    return this.#report(key, gang, plan, incompleteMs, signal)
  }

  #plan(set: StoredSet, instance: PodGangInstance, existing: Stored<PodGang> | undefined): GangPlan {
    const { caches } = this.#context
    const { namespace } = set.metadata
    return planGang({
      set,
      instance,
      existing,
      levels: levelsOf(this.#context, set),
      schedulerName: schedulerOf(this.#context, set),
      members: {
        cliqueNamed: name => caches.cliques.get({ namespace, name }),
        podsOf: clique => caches.podsOf(clique),
        isScaledAway: ({ group }) => {
          const live = group && caches.groups.get({ namespace, name: group.instance.name })
          return live !== undefined && live.spec.replicas <= group!.replica
        },
      },
    })
  }

  /** How long the gang has been lacking something, or since that was last said. */
  #incompleteMs(key: GangKey, isComplete: boolean): number {
    const now = this.#context.clock.monotonic()
    if (isComplete) {
      this.#incompleteSince.delete(key)
      return 0
    }
    const since = this.#incompleteSince.get(key) ?? now
    this.#incompleteSince.set(key, since)
    return now - since
  }

  /** Writes whether the gang is complete; that it is not, only when nothing was said yet or it stays so. */
  async #report(
    key: GangKey,
    gang: Stored<PodGang>,
    { initialized, isComplete }: GangPlan,
    incompleteMs: number,
    signal: AbortSignal,
  ): Promise<ReconcileResult | undefined> {
    const { caches, clock, statusPace } = this.#context
    const { uid, generation = 1 } = gang.metadata
    const known = findCondition(gang.status?.conditions, initialized.type)
    if (known?.status === initialized.status && (isComplete || known.message === initialized.message)) {
      if (known.observedGeneration === generation) {
        statusPace.drop(uid)
        return undefined
      }
      // That it holds for the present list as well: nobody waits for that.
      const waitMs = statusPace.waitMs(uid)
      if (waitMs > 0) return { requeueAfter: waitMs }
    } else if (known && !isComplete && incompleteMs < lackGraceMs)
      return { requeueAfter: lackGraceMs - incompleteMs }
    const status = statusWith(gang, initialized, timestamp(clock))
    await writeStatus(caches, resources.podGangs, gang, status, { signal })
    statusPace.wrote(uid)
    if (!isComplete) this.#incompleteSince.set(key, clock.monotonic())
    return undefined
  }

  async #write(
    set: StoredSet,
    existing: Stored<PodGang> | undefined,
    plan: GangPlan,
    signal: AbortSignal,
  ): Promise<Stored<PodGang> | undefined> {
    const { caches, events: sink } = this.#context
    if (!plan.create && !plan.patch) return existing
    const name = plan.create?.metadata.name ?? existing!.metadata.name
    const id = `${set.metadata.namespace}/${name}`
    try {
      const written = plan.create
        ? await caches.client.create(resources.podGangs, plan.create, { signal })
        : await patchObject(caches, resources.podGangs, existing!, { merge: plan.patch! }, { signal })
      sink.emit(set, eventSource.podCliqueSet, events.podGangApplied(id))
      return written
    } catch (error) {
      // Ours, but not in the cache yet: its arrival wakes us.
      if (plan.create && isAlreadyExists(error)) return undefined
      sink.emit(set, eventSource.podCliqueSet, events.podGangApplyFailed(id, textOf(error)))
      throw new CodedError(
        'Sync',
        setErrorCode.applyPodGang,
        `Error creating or patching PodGang ${id}`,
        error,
      )
    }
  }
}

function isOfFormerSet({ metadata }: Stored<PodGang>, set: StoredSet): boolean {
  const owner = metadata.ownerReferences?.find(reference => reference.controller)
  return (
    owner?.kind === kinds.podCliqueSet.kind &&
    owner.name === set.metadata.name &&
    owner.uid !== set.metadata.uid
  )
}

/**
 * The levels by which the gangs of a set are placed: none where its topology is missing, undefined with the
 * feature off.
 */
export function levelsOf(
  { caches, configuration }: OperatorContext,
  set: StoredSet,
): readonly TopologyLevel[] | undefined {
  if (!configuration.topologyAwareScheduling.enabled) return undefined
  const name = topologyName(set)
  return (name && caches.topologyBindings.get({ name })?.spec.levels) || []
}
