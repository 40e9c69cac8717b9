// SPDX-License-Identifier: Apache-2.0
import { plan } from '../plan.ts'
import type { Explanation, Gang, Policy, Provenance, Snapshot, SnapshotPod } from '../types.ts'
import { countCopies, isOfCopy } from './copies.ts'
import { type Fragmentation, fragmentationOf } from './fragmentation.ts'
import { type LevelSlots, slotsOf } from './slots.ts'

export type { Fragmentation } from './fragmentation.ts'
export type { LevelSlots } from './slots.ts'

export interface Capacity {
  /** Whole copies of the template that fit together: the minimum of every gang. */
  readonly copies: number
  readonly provenance: Provenance
  /** Why the next copy does not fit; null if `most` ended the count. */
  readonly limitedBy: Explanation | null
  /** Copies of the first base gang in each domain. Each domain is evaluated alone. */
  readonly slots: readonly LevelSlots[]
  readonly fragmentation: Fragmentation
}

export interface CapacityInput {
  /** Nodes and bound pods. Its gangs are ignored. */
  readonly snapshot: Snapshot
  /** One copy: gangs in planning order, with all pods and without gates. */
  readonly template: readonly Gang[]
  /** Further pods whose shapes count for the fragmentation, such as waiting ones. */
  readonly waitingPods?: readonly SnapshotPod[]
  readonly most: number
  readonly policy: Policy
  readonly now: number
}

/** Computes how many copies of the gangs the cluster can still hold. Pure, as `plan`. */
export function capacity({
  snapshot,
  template,
  waitingPods = [],
  most,
  policy,
  now,
}: CapacityInput): Capacity {
  const base = template.find(({ role }) => role === 'base')
  const found = countCopies(snapshot, template, policy, most)
  const pods = template.flatMap(({ groups }) => groups.flatMap(({ candidates }) => candidates))
  return {
    copies: found.copies,
    provenance: found.isProved ? 'proved' : 'budget-exhausted',
    limitedBy: found.isLimited ? null : nextFailure(snapshot, template, found.pods, policy, now),
    slots: base ? slotsOf(snapshot, base, policy, most) : [],
    fragmentation: fragmentationOf(snapshot, template, [...pods, ...snapshot.boundPods, ...waitingPods]),
  }
}

/** Explains why one more copy does not fit on the nodes that the copies leave. */
function nextFailure(
  snapshot: Snapshot,
  template: readonly Gang[],
  placed: readonly SnapshotPod[],
  policy: Policy,
  now: number,
): Explanation | null {
  const full: Snapshot = { ...snapshot, boundPods: [...snapshot.boundPods, ...placed], gangs: template }
  const explanation = plan(full, policy, now).gangs.find(
    ({ verdict }) => verdict !== 'Scheduled',
  )?.explanation
  if (!explanation) return null
  const isReal = (fix: Explanation['fixes'][number]) =>
    fix.op !== 'DeletePods' || !fix.pods.some(({ name }) => isOfCopy(name))
  return { ...explanation, fixes: explanation.fixes.filter(isReal) }
}
