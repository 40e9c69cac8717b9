// SPDX-License-Identifier: Apache-2.0

import type { OwnerReference } from '@grove/kube'
import { foregroundFinalizer, type GraphNode, orphanFinalizer } from './graph.ts'

/** What an owner reference points to. `waiting`: exists and waits for its dependents to go first. `unknown`: cannot be
 * told, because its kind is not served; then nothing is done. */
export type OwnerState = 'solid' | 'dangling' | 'waiting' | 'unknown'

export type Decision =
  | { readonly do: 'nothing' }
  /** Some owners remain: the others are forgotten. */
  | { readonly do: 'drop owners'; readonly uids: readonly string[] }
  | { readonly do: 'delete'; readonly policy: 'Background' | 'Foreground' | 'Orphan' }

const nothing: Decision = { do: 'nothing' }

/** The fate of an object that names owners and is not being deleted. Pure. */
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
  // Who waits wants to see the whole tree below it gone, so each level waits for the one below.
  if (uidsOf('waiting').length > 0 && hasDependents) return { do: 'delete', policy: 'Foreground' }
  if (node.finalizers.includes(orphanFinalizer)) return { do: 'delete', policy: 'Orphan' }
  if (node.finalizers.includes(foregroundFinalizer)) return { do: 'delete', policy: 'Foreground' }
  return { do: 'delete', policy: 'Background' }
}
