// SPDX-License-Identifier: Apache-2.0

import type { Node } from '../controllers/kinds.ts'
import { nodeOf } from './node.ts'

/**
 * Returns what the kubelet adds to a manually created Node: default labels, capacity and system info.
 * Existing values stay unchanged. Undefined when nothing is missing.
 */
export function registration(
  node: Node,
  now: number,
): { readonly labels: Record<string, string>; readonly status: NonNullable<Node['status']> } | undefined {
  const name = node.metadata?.name ?? ''
  const usual = nodeOf({ name, labels: {} }, now)
  const own = node.metadata?.labels ?? {}
  const labels = Object.fromEntries(
    Object.entries(usual.metadata?.labels ?? {}).filter(([key]) => own[key] === undefined),
  )
  const { capacity, allocatable, addresses, nodeInfo } = node.status ?? {}
  const offered = capacity ?? allocatable ?? usual.status?.capacity
  const status = {
    ...(!capacity && { capacity: offered }),
    ...(!allocatable && { allocatable: offered }),
    ...(!addresses?.length && { addresses: usual.status?.addresses }),
    ...(!nodeInfo?.kubeletVersion && { nodeInfo: usual.status?.nodeInfo }),
  }
  return Object.keys(labels).length || Object.keys(status).length ? { labels, status } : undefined
}
