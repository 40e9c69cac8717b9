// SPDX-License-Identifier: Apache-2.0

// Compares the children of one kind with what their owner wants. Missing children are created, owned fields that
// differ are patched, and unwanted children are deleted.
import type { KubeObject, Stored } from '@grove/kube'
import type { MergePatch } from '../apply/intent.ts'
import { mergePatch } from '../apply/owned-fields.ts'
import { mostCreated } from '../apply/writes.ts'
import { isControlledBy } from '../layout/owner.ts'
import type { WantedChild } from '../objects/wanted-child.ts'

export interface ChildKind<T extends KubeObject> {
  readonly wanted: Iterable<WantedChild<T>>
  /**
   * All objects of the kind that carry the owner's labels. The owner reference decides which of them the owner
   * controls.
   */
  readonly existing: readonly Stored<T>[]
  readonly ownerUid: string
  /**
   * Returns the differences in owned metadata and spec. Without this function the kind is never patched after creation.
   */
  readonly patch?: (existing: Stored<T>, wanted: T) => MergePatch | undefined
  /** Reports whether the difference is in an immutable field. Such a child is deleted and recreated. */
  readonly isBeyondRepair?: (existing: Stored<T>, wanted: T) => boolean
}

export interface ChildPlan<T extends KubeObject> {
  /** At most `mostCreated` children. If the limit is reached, there may be more. */
  readonly create: readonly T[]
  readonly patch: readonly { readonly object: Stored<T>; readonly patch: MergePatch }[]
  readonly remove: readonly Stored<T>[]
  /** Wanted names that objects of other owners have. */
  readonly taken: readonly Stored<T>[]
  /** Wanted names whose former object is terminating. Its deletion enqueues the owner. */
  readonly terminating: readonly Stored<T>[]
  /** Number of missing children whose replicas are created later. */
  readonly later: number
}

export function planChildren<T extends KubeObject>(kind: ChildKind<T>): ChildPlan<T> {
  const byName = new Map(kind.existing.map(object => [object.metadata.name, object]))
  const kept = new Set<string>()
  const create: T[] = []
  const patch: { object: Stored<T>; patch: MergePatch }[] = []
  const taken: Stored<T>[] = []
  const terminating: Stored<T>[] = []
  const beyondRepair: Stored<T>[] = []
  let later = 0
  for (const { name, build, isLater = false } of kind.wanted) {
    const existing = byName.get(name)
    if (!existing) {
      if (isLater) later++
      else if (create.length < mostCreated) create.push(build())
      continue
    }
    kept.add(name)
    if (existing.metadata.deletionTimestamp) {
      terminating.push(existing)
      continue
    }
    if (!isControlledBy(existing, kind.ownerUid)) {
      taken.push(existing)
      continue
    }
    const wanted = build()
    if (kind.isBeyondRepair?.(existing, wanted)) {
      beyondRepair.push(existing)
      continue
    }
    const difference = kind.patch?.(existing, wanted)
    if (difference) patch.push({ object: existing, patch: difference })
  }
  const unwanted = kind.existing.filter(
    object =>
      !kept.has(object.metadata.name) &&
      !object.metadata.deletionTimestamp &&
      isControlledBy(object, kind.ownerUid),
  )
  return { create, patch, remove: [...beyondRepair, ...unwanted], taken, terminating, later }
}

/** Compares labels as a whole, and annotations for kinds that mirror them. Additions of other clients are removed. */
export function metadataPatch(
  existing: KubeObject,
  wanted: KubeObject,
  members: readonly ('labels' | 'annotations')[],
): MergePatch | undefined {
  const patches = members.flatMap(member => {
    const difference = mergePatch(existing.metadata?.[member], wanted.metadata?.[member])
    return difference ? [[member, difference] as const] : []
  })
  return patches.length ? Object.fromEntries(patches) : undefined
}

export function combine(
  metadata: MergePatch | undefined,
  rest: MergePatch | undefined,
): MergePatch | undefined {
  if (!metadata && !rest) return undefined
  return { ...(metadata && { metadata }), ...rest }
}
