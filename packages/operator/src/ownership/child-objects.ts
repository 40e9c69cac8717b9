// SPDX-License-Identifier: Apache-2.0

// Brings the children of one kind to what their owner wants: what is missing is created, what differs is patched in
// the fields that are ours, what is not wanted any more is deleted.
import type { KubeObject, Stored } from '@grove/kube'
import type { MergePatch } from '../apply/intent.ts'
import { mergePatch } from '../apply/owned-fields.ts'
import { mostCreated } from '../apply/writes.ts'
import { isControlledBy } from '../layout/owner.ts'
import type { WantedChild } from '../objects/wanted-child.ts'

export interface ChildKind<T extends KubeObject> {
  readonly wanted: Iterable<WantedChild<T>>
  /** Everything of that kind that carries the owner's labels; whose it is, its owner reference says. */
  readonly existing: readonly Stored<T>[]
  readonly ownerUid: string
  /** The part of metadata and spec that is ours and differs. Without it a child is never changed after creation. */
  readonly patch?: (existing: Stored<T>, wanted: T) => MergePatch | undefined
  /** Whether what is wrong cannot be changed in place: such a child goes and is made anew. */
  readonly isBeyondRepair?: (existing: Stored<T>, wanted: T) => boolean
  /** Whether unwanted children go. */
  readonly prune: boolean
}

export interface ChildPlan<T extends KubeObject> {
  /** At most `mostCreated`: as many as that means that there may be more. */
  readonly create: readonly T[]
  readonly patch: readonly { readonly object: Stored<T>; readonly patch: MergePatch }[]
  readonly remove: readonly Stored<T>[]
  /** Wanted names that an object of somebody else has. */
  readonly taken: readonly Stored<T>[]
  /** Wanted names whose former holder is still on its way out; its end will wake us. */
  readonly leaving: readonly Stored<T>[]
}

export function planChildren<T extends KubeObject>(kind: ChildKind<T>): ChildPlan<T> {
  const byName = new Map(kind.existing.map(object => [object.metadata.name, object]))
  const kept = new Set<string>()
  const create: T[] = []
  const patch: { object: Stored<T>; patch: MergePatch }[] = []
  const taken: Stored<T>[] = []
  const leaving: Stored<T>[] = []
  const beyondRepair: Stored<T>[] = []
  for (const { name, build } of kind.wanted) {
    const existing = byName.get(name)
    if (!existing) {
      if (create.length < mostCreated) create.push(build())
      continue
    }
    kept.add(name)
    if (existing.metadata.deletionTimestamp) leaving.push(existing)
    else if (!isControlledBy(existing, kind.ownerUid)) taken.push(existing)
    else {
      const wanted = build()
      if (kind.isBeyondRepair?.(existing, wanted)) beyondRepair.push(existing)
      else {
        const difference = kind.patch?.(existing, wanted)
        if (difference) patch.push({ object: existing, patch: difference })
      }
    }
  }
  const remove = kind.prune
    ? kind.existing.filter(
        object =>
          !kept.has(object.metadata.name) &&
          !object.metadata.deletionTimestamp &&
          isControlledBy(object, kind.ownerUid),
      )
    : []
  return { create, patch, remove: [...beyondRepair, ...remove], taken, leaving }
}

/** Labels, and for kinds that mirror them annotations, as a whole: what others added there goes. */
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
