// SPDX-License-Identifier: Apache-2.0
import { compareText } from '../order.ts'
import type { Case, Cause } from './case.ts'
import { acceptingNodes, freeAmount, totalRequests } from './evidence.ts'
import { amountsText, amountText, podsText } from './text.ts'

/** The requested resource with the least room relative to the demand. */
export function scarcest(
  { cycle, pods }: Case,
  nodes: readonly number[],
): { resource: string; need: number; free: number } {
  const rated = Object.entries(totalRequests(pods)).map(([resource, need]) => {
    const free = freeAmount(cycle.model, nodes, resource)
    return { resource, need, free, ratio: free / need }
  })
  rated.sort((a, b) => a.ratio - b.ratio || compareText(a.resource, b.resource))
  return rated[0]!
}

export function insufficientCapacity(one: Case): Cause {
  const nodes = acceptingNodes(one.cycle.model, one.pods)
  const { resource, need, free } = scarcest(one, nodes)
  const names = new Set(nodes.map(node => one.snapshot.nodes[node]!.name))
  const holders = one.snapshot.boundPods.filter(
    pod => names.has(pod.node ?? '') && pod.needs.requests[resource],
  )
  return {
    code: 'InsufficientCapacity',
    facts: {
      short: amountText(resource, Math.max(0, need - free)),
      resource,
      need: amountText(resource, need),
      free: amountText(resource, free),
      n: nodes.length,
      holders: podsText(holders.length),
    },
  }
}

export function podLimitReached(one: Case): Cause | undefined {
  if (one.fits(one.snapshot, ['podCount']) !== 'yes') return undefined
  const { model } = one.cycle
  const pods = model.resourceIndex('pods')
  const full = acceptingNodes(model, one.pods).filter(node => model.freeOf(node, pods) < 1)
  return { code: 'PodLimitReached', facts: { n: full.length } }
}

export function heldForEarlierGang(one: Case): Cause | undefined {
  if (one.before.length === 0 || one.fits(one.snapshot, [], []) !== 'yes') return undefined
  // The last gang that has to go is the one that this gang waits for.
  const kept = one.before.map(({ index }) => index)
  const holder = one.before.findLast(
    ({ index }) =>
      one.fits(
        one.snapshot,
        [],
        kept.filter(other => other !== index),
      ) === 'yes',
  )
  const found = holder ?? one.before.at(-1)!
  const { gang } = found
  return {
    code: 'HeldForEarlierGang',
    facts: {
      holder: `PodGang ${gang.name}`,
      reason: gang.priority === one.task.gang.priority ? 'age' : 'priority',
      resources: amountsText(totalRequests(found.minimum.flat())),
    },
    waitsFor: { kind: 'PodGang', namespace: gang.namespace, name: gang.name },
  }
}
