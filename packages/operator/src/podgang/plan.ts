// SPDX-License-Identifier: Apache-2.0

// What a PodGang should say. References are written when they are complete, not pod by pod: a gang of a thousand pods
// is patched once and not a thousand times.
import { type PodGang, type PodGangStatus, podGangInitialized, type TopologyLevel } from '@grove/api'
import { findCondition, withCondition } from '../condition-list.ts'
import type { PodGangInstance } from '../layout.ts'
import { podGang } from '../objects/gang.ts'
import { mergePatch } from '../owned-fields.ts'
import { isInitialized } from '../podclique/gates.ts'
import type { StoredSet } from '../stored.ts'
import { type GangPods, gangLacks, gangPods } from './complete.ts'

export interface GangInput {
  readonly set: StoredSet
  readonly instance: PodGangInstance
  readonly existing: PodGang | undefined
  readonly levels: readonly TopologyLevel[] | undefined
  readonly schedulerName: string
  readonly world: GangPods
  readonly now: string
}

export interface GangPlan {
  /** The whole object when it has to be created. */
  readonly create: PodGang | undefined
  /** A merge patch of metadata and spec when it exists and differs. */
  readonly patch: Readonly<Record<string, unknown>> | undefined
  /** The new status when it differs. */
  readonly status: PodGangStatus | undefined
  readonly waitsFor: string | undefined
}

export function planGang(input: GangInput): GangPlan {
  const { instance, existing, world } = input
  const waitsFor = gangLacks(instance, world)
  // Until a gang is complete for the first time its list stays empty; afterwards it follows every change.
  const lists = waitsFor === undefined || (existing !== undefined && isInitialized(existing))
  const wanted = podGang(instance, {
    set: input.set,
    levels: input.levels,
    schedulerName: input.schedulerName,
    podsOf: clique => (lists ? gangPods(instance.name, clique, world).map(pod => pod.metadata.name) : []),
    ...(existing && { existing }),
  })
  return {
    create: existing ? undefined : wanted,
    patch: existing && patchTowards(existing, wanted),
    status: statusOf(existing, waitsFor === undefined, input.now),
    waitsFor,
  }
}

function patchTowards(existing: PodGang, wanted: PodGang): Readonly<Record<string, unknown>> | undefined {
  const labels = mergePatch(existing.metadata.labels, wanted.metadata.labels)
  const annotations = mergePatch(existing.metadata.annotations, wanted.metadata.annotations)
  const spec = mergePatch(existing.spec, {
    ...wanted.spec,
    reuseReservationRef: existing.spec.reuseReservationRef,
  })
  const metadata = { ...(labels && { labels }), ...(annotations && { annotations }) }
  if (!labels && !annotations && !spec) return undefined
  return { ...((labels || annotations) && { metadata }), ...(spec && { spec }) }
}

/** Only our own condition, and the phase while nobody has set one: the rest belongs to the scheduler. */
function statusOf(existing: PodGang | undefined, complete: boolean, now: string): PodGangStatus | undefined {
  const before = existing?.status
  const known = findCondition(before?.conditions, podGangInitialized.done.type)
  if (known?.status === 'True' || (known && !complete)) return undefined
  const value = complete ? podGangInitialized.done : podGangInitialized.pending
  return {
    ...before,
    phase: before?.phase ?? 'Pending',
    conditions: [...withCondition(before?.conditions, value, now)],
  }
}
