// SPDX-License-Identifier: Apache-2.0

// The wanted PodGang. The operator adds pods to its list only when it is complete, and not one by one: a gang of a
// thousand pods is patched once. It removes deleted pods from the list at once.
import {
  type ConditionValue,
  eventSource,
  events,
  type PodGang,
  podGangInitialized,
  type TopologyLevel,
} from '@grove/api'
import type { Intent, MergePatch } from '../apply/intent.ts'
import { mergePatch } from '../apply/owned-fields.ts'
import { resources } from '../caches/resources.ts'
import { gangErrors } from '../errors/catalogue.ts'
import type { PodGangInstance } from '../layout/layout.ts'
import type { StoredSet } from '../layout/stored.ts'
import { podGang } from '../objects/gang.ts'
import { combine, metadataPatch } from '../ownership/child-objects.ts'
import { findCondition } from '../state/conditions.ts'
import { type GangMembers, gangLacks, gangLost, gangPods } from './complete.ts'
import type { GangSnapshot } from './observe.ts'

export interface GangInput {
  readonly set: StoredSet
  readonly instance: PodGangInstance
  readonly existing: PodGang | undefined
  readonly levels: readonly TopologyLevel[] | undefined
  readonly schedulerName: string
  readonly members: GangMembers
}

export interface GangPlan {
  /** The whole object when it has to be created. */
  readonly create: PodGang | undefined
  /** A merge patch of metadata and spec when it exists and differs. */
  readonly patch: MergePatch | undefined
  readonly initialized: ConditionValue
  readonly isComplete: boolean
}

export function planGang(input: GangInput): GangPlan {
  const { instance, existing, members } = input
  const initialized = initializedOf(input)
  const isComplete = initialized.status === 'True'
  const listed = podsListedBy(existing)
  const wanted = podGang(instance, {
    set: input.set,
    levels: input.levels,
    schedulerName: input.schedulerName,
    podsOf: clique =>
      gangPods(instance.name, clique, members)
        .map(pod => pod.metadata.name)
        .filter(name => isComplete || listed.has(name)),
    ...(existing && { existing }),
  })
  return {
    create: existing ? undefined : wanted,
    patch: existing && patchTowards(existing, wanted),
    initialized,
    isComplete,
  }
}

function initializedOf({ instance, existing, members }: GangInput): ConditionValue {
  const { done, lost, pending } = podGangInitialized
  if (wasComplete(existing)) {
    const waitsFor = gangLost(instance, members)
    return waitsFor === undefined ? done : lost(waitsFor)
  }
  const waitsFor = gangLacks(instance, members)
  return waitsFor === undefined ? done : pending(waitsFor)
}

function wasComplete(gang: PodGang | undefined): boolean {
  const { done, lost } = podGangInitialized
  const known = findCondition(gang?.status?.conditions, done.type)
  return known?.status === 'True' || known?.reason === lost('').reason
}

function podsListedBy(gang: PodGang | undefined): ReadonlySet<string> {
  return new Set(gang?.spec.podgroups.flatMap(group => group.podReferences.map(({ name }) => name)))
}

/** All fields except the reservation, which other clients set. */
function patchTowards(existing: PodGang, wanted: PodGang): MergePatch | undefined {
  const { reuseReservationRef } = existing.spec
  const spec = mergePatch(existing.spec, { ...wanted.spec, reuseReservationRef })
  return combine(metadataPatch(existing, wanted, ['labels', 'annotations']), spec && { spec })
}

/** The write of the gang itself; undefined if the gang is as wanted. */
export function gangWrites(
  { set, existing }: Pick<GangSnapshot, 'set' | 'existing'>,
  plan: GangPlan,
): Intent[] {
  const id = `${set.metadata.namespace}/${plan.create?.metadata.name ?? existing?.metadata.name}`
  const outcomes = {
    resource: resources.podGangs,
    error: gangErrors.writeGang(id),
    report: {
      about: set,
      source: eventSource.podCliqueSet,
      done: () => events.podGangApplied(id),
      failed: (error: string) => events.podGangApplyFailed(id, error),
    },
  }
  if (existing) return plan.patch ? [{ ...outcomes, kind: 'patch', object: existing, merge: plan.patch }] : []
  if (!plan.create) return []
  return [
    {
      ...outcomes,
      kind: 'create',
      object: plan.create,
      // The watch event of an existing gang enqueues this key, and so does its deletion.
      existing: {
        ownerUid: set.metadata.uid,
        awaitsDeletion: () => true,
        conflict: gangErrors.foreignGang(id),
      },
    },
  ]
}
