// SPDX-License-Identifier: Apache-2.0
import { podsByNode } from '../model/usage.ts'
import { compareText } from '../order.ts'
import type { GangTask } from '../planner/gang-demand.ts'
import { scopesOf } from '../planner/scopes.ts'
import type { Gang } from '../types.ts'
import type { Case, Cause } from './case.ts'
import { acceptingNodes, domainName, freeAmount, requesting, totalRequests } from './evidence.ts'
import { amountsText, amountText, domainText, namesText, podsText } from './text.ts'

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
  const { byNode } = podsByNode(one.snapshot.nodes, one.snapshot.boundPods)
  const holds = requesting([resource])
  const holders = nodes.reduce((sum, node) => sum + (byNode[node]?.filter(holds).length ?? 0), 0)
  return {
    code: 'InsufficientCapacity',
    facts: {
      short: amountText(resource, Math.max(0, need - free)),
      resource,
      need: amountText(resource, need),
      free: amountText(resource, free),
      n: nodes.length,
      holders: podsText(holders),
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
  // The holder is the first gang that, together with the gangs before it, leaves too little room.
  let from = 0
  let to = one.before.length - 1
  while (from < to) {
    const middle = (from + to + 1) >> 1
    const kept = one.before.slice(0, middle).map(({ index }) => index)
    if (one.fits(one.snapshot, [], kept) === 'yes') from = middle
    else to = middle - 1
  }
  return heldFor(one.before[from]!, one.task.gang)
}

export function heldFor({ gang, minimum }: GangTask, { priority }: Gang): Cause {
  return {
    code: 'HeldForEarlierGang',
    facts: {
      holder: `PodGang ${gang.name}`,
      reason: gang.priority === priority ? 'age' : 'priority',
      resources: amountsText(totalRequests(minimum.flat())),
    },
    waitsFor: { kind: 'PodGang', namespace: gang.namespace, name: gang.name },
  }
}

export function reserved(one: Case): Cause | undefined {
  const { cycle, held, snapshot, before } = one
  const kept = before.map(({ index }) => index)
  if (held.length === 0 || one.fits(snapshot, [], kept, []) !== 'yes') return undefined
  // The reservation without which the gang fits. If the gang needs the room of several, the first is named.
  const alone = held.find(
    other =>
      one.fits(
        snapshot,
        [],
        kept,
        held.filter(one => one !== other).map(({ pods }) => pods),
      ) === 'yes',
  )
  const { reservation, pods } = alone ?? held[0]!
  const holder = snapshot.gangs[reservation.index]!
  const { required } = scopesOf(cycle.model, holder)
  const [first] = reservation.placement
  const domain = required && first ? required.partition.domainOf[first.node]! : -1
  return {
    code: 'Reserved',
    facts: {
      domain:
        required && domain >= 0
          ? domainText(domainName(holder, required.partition, domain))
          : namesText([...new Set(pods.map(({ node }) => node))].sort(compareText)),
      holder: `PodGang ${holder.name}`,
      time: new Date(reservation.since).toISOString(),
    },
    waitsFor: { kind: 'PodGang', namespace: holder.namespace, name: holder.name },
  }
}
