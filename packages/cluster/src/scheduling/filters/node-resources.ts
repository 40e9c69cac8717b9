// SPDX-License-Identifier: Apache-2.0

import type { Filter, Rejection } from '../filter.ts'
import type { NodeState } from '../node-state.ts'

/** The node needs free resources for all requests, and free capacity for one more pod. */
export const nodeResources: Filter = {
  name: 'NodeResourcesFit',
  prepare({ requests }) {
    const wanted = inReportedOrder(requests)
    return node => {
      let reasons: string[] | undefined
      let resolvable = true
      if (!hasRoomForPod(node)) reasons = ['Too many pods']
      for (const [resource, amount] of wanted) {
        if (amount <= node.free(resource)) continue
        reasons ??= []
        reasons.push(`Insufficient ${resource}`)
        if (amount > (node.allocatable.get(resource) ?? 0)) resolvable = false
      }
      return reasons && rejectionFor(reasons, resolvable)
    }
  },
}

function hasRoomForPod(node: NodeState): boolean {
  return node.pods.size < (node.allocatable.get('pods') ?? 0)
}

const first = ['cpu', 'memory', 'ephemeral-storage']

function inReportedOrder(requests: ReadonlyMap<string, number>): readonly (readonly [string, number])[] {
  const rank = (resource: string) => (first.includes(resource) ? first.indexOf(resource) : first.length)
  return [...requests].filter(([, amount]) => amount > 0).sort(([a], [b]) => rank(a) - rank(b))
}

/** Cached, because thousands of nodes lack the same resource. */
const shared = new Map<string, Rejection>()
const sharedRejections = 1_000

function rejectionFor(reasons: readonly string[], resolvable: boolean): Rejection {
  const key = `${resolvable}${reasons.join()}`
  let rejection = shared.get(key)
  if (!rejection) {
    rejection = { filter: 'NodeResourcesFit', reasons, resolvable }
    if (shared.size >= sharedRejections) shared.clear()
    shared.set(key, rejection)
  }
  return rejection
}
