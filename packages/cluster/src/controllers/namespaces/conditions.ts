// SPDX-License-Identifier: Apache-2.0

import type { NamespaceCondition } from '../../schema/types.generated.ts'
import { timestamp } from '../timestamp.ts'

/** The remaining objects of a resource in a namespace. */
export interface Remaining {
  readonly resource: string
  readonly count: number
  readonly finalizers: readonly string[]
}

type Verdict = Pick<NamespaceCondition, 'type' | 'status' | 'reason' | 'message'>

/** The conditions that report remaining content, with the messages of Kubernetes. */
export function contentConditions(remaining: readonly Remaining[]): Verdict[] {
  const fine = (type: string, reason: string, message: string): Verdict => ({
    type,
    status: 'False',
    reason,
    message,
  })
  return [
    fine('NamespaceDeletionDiscoveryFailure', 'ResourcesDiscovered', 'All resources successfully discovered'),
    fine(
      'NamespaceDeletionGroupVersionParsingFailure',
      'ParsedGroupVersions',
      'All legacy kube types successfully parsed',
    ),
    fine(
      'NamespaceDeletionContentFailure',
      'ContentDeleted',
      remaining.length
        ? 'All content successfully deleted, may be waiting on finalization'
        : 'All content successfully deleted',
    ),
    remainingCondition(remaining),
    finalizersCondition(remaining),
  ]
}

function remainingCondition(remaining: readonly Remaining[]): Verdict {
  const type = 'NamespaceContentRemaining'
  if (remaining.length === 0)
    return { type, status: 'False', reason: 'ContentRemoved', message: 'All content successfully removed' }
  const parts = remaining
    .map(({ resource, count }) => `${dotted(resource)} has ${count} resource instances`)
    .sort()
  return {
    type,
    status: 'True',
    reason: 'SomeResourcesRemain',
    message: `Some resources are remaining: ${parts.join(', ')}`,
  }
}

function finalizersCondition(remaining: readonly Remaining[]): Verdict {
  const type = 'NamespaceFinalizersRemaining'
  const counts = new Map<string, number>()
  for (const { finalizers } of remaining)
    for (const finalizer of finalizers) counts.set(finalizer, (counts.get(finalizer) ?? 0) + 1)
  if (counts.size === 0)
    return {
      type,
      status: 'False',
      reason: 'ContentHasNoFinalizers',
      message: 'All content-preserving finalizers finished',
    }
  const parts = [...counts].map(([finalizer, count]) => `${finalizer} in ${count} resource instances`).sort()
  return {
    type,
    status: 'True',
    reason: 'SomeFinalizersRemain',
    message: `Some content in the namespace has finalizers remaining: ${parts.join(', ')}`,
  }
}

/** Kubernetes writes the core group with a dot. */
function dotted(resource: string): string {
  return resource.includes('.') ? resource : `${resource}.`
}

/**
 * Returns the new list of conditions; undefined if nothing changes. lastTransitionTime changes only with the
 * status.
 */
export function mergeConditions(
  old: readonly NamespaceCondition[] | undefined,
  verdicts: readonly Verdict[],
  now: number,
): NamespaceCondition[] | undefined {
  let changed = false
  const merged = verdicts.map(verdict => {
    const known = old?.find(({ type }) => type === verdict.type)
    if (
      known?.status !== verdict.status ||
      known?.reason !== verdict.reason ||
      known?.message !== verdict.message
    )
      changed = true
    const lastTransitionTime = known?.status === verdict.status ? known?.lastTransitionTime : timestamp(now)
    return { ...verdict, lastTransitionTime }
  })
  const others = (old ?? []).filter(({ type }) => !verdicts.some(verdict => verdict.type === type))
  return changed ? [...others, ...merged] : undefined
}
