// SPDX-License-Identifier: Apache-2.0

import type { OwnerReference } from '@grove/kube'
import { foregroundFinalizer, type GraphNode, orphanFinalizer } from './graph.ts'

/**
 * The state of an owner. `waiting`: exists and waits for the deletion of its dependents. `unknown`: its kind
 * is not served, so the object is left alone.
 */
export type OwnerState = 'solid' | 'dangling' | 'waiting' | 'unknown'

export type Decision =
  | { readonly do: 'nothing' }
  /** Some owners remain: the references to the others are removed. */
  | { readonly do: 'drop owners'; readonly uids: readonly string[] }
  | { readonly do: 'delete'; readonly policy: 'Background' | 'Foreground' | 'Orphan' }

const nothing: Decision = { do: 'nothing' }

/** Decides about an object that has owners and is not being deleted. Pure. */
export function decide(
  node: GraphNode,
  owners: readonly (readonly [OwnerReference, OwnerState])[],
  hasDependents: boolean,
): Decision {
  if (owners.length === 0 || node.beingDeleted) return nothing
  const uidsOf = (...states: readonly OwnerState[]) =>
    owners.filter(([, state]) => states.includes(state)).map(([{ uid }]) => uid)
  if (uidsOf('unknown').length > 0) return nothing
  if (uidsOf('solid').length > 0) {
    const uids = uidsOf('dangling', 'waiting')
    return uids.length > 0 ? { do: 'drop owners', uids } : nothing
  }
  // Foreground deletion waits for the whole tree, so each level waits for the next one.
  if (uidsOf('waiting').length > 0 && hasDependents) return { do: 'delete', policy: 'Foreground' }
  if (node.finalizers.includes(orphanFinalizer)) return { do: 'delete', policy: 'Orphan' }
  if (node.finalizers.includes(foregroundFinalizer)) return { do: 'delete', policy: 'Foreground' }
  return { do: 'delete', policy: 'Background' }
}
