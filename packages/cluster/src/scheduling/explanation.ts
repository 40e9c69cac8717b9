// SPDX-License-Identifier: Apache-2.0

import type { Rejection } from './filter.ts'

export const noNodesText = 'no nodes available to schedule pods'

/**
 * Formats the rejections like kube-scheduler: `0/5 nodes are available: 1 Insufficient cpu, 4 node(s) had
 * untolerated taint(s).` Sorted as strings, as there: 10 comes before 9.
 */
export function explainRejections(nodeCount: number, rejections: Iterable<Rejection>): string {
  const counts = new Map<string, number>()
  for (const { reasons } of rejections)
    for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  return explainCounts(nodeCount, counts)
}

export function explainCounts(nodeCount: number, counts: ReadonlyMap<string, number>): string {
  const parts = [...counts].map(([reason, count]) => `${count} ${reason}`).sort()
  return `0/${nodeCount} nodes are available:${parts.length ? ` ${parts.join(', ')}.` : ''}`
}
