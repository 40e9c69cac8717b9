// SPDX-License-Identifier: Apache-2.0
import type { GangTask } from '../planner/gang-demand.ts'
import { replicaDomains, withReplicaDomain } from '../planner/replica-domain.ts'
import { allScopes, type Scope } from '../planner/scopes.ts'
import { scarcest } from './capacity.ts'
import { bestDomain, type Case, type Cause, failingScope, levelOf } from './case.ts'
import { acceptingNodes, domainName, freeAmount, shortage, totalRequests } from './evidence.ts'
import { amountsText, amountText, domainText, podsText, scopeText } from './text.ts'
import { unpinned, withGang, withoutReplicaScope, withoutRequiredLevels } from './variants.ts'

export function pinnedDomainFull(one: Case): Cause | undefined {
  const { task, snapshot, index, cycle } = one
  if (one.fits(withGang(snapshot, index, unpinned)) !== 'yes') return undefined
  const pinning = allScopes(task.scope).filter(scope => pinnedDomain(task, scope) !== undefined)
  const scope = failingScope(task, change => one.fits(withGang(snapshot, index, change)), pinning)
  if (!scope?.required) return undefined
  const { partition } = scope.required
  const domain = pinnedDomain(task, scope)!
  const members = partition.members[domain]!
  const pods = scope.groups.flatMap(group => task.minimum[group]!)
  const short = shortage(cycle.model, totalRequests(pods), members)
  return {
    code: 'PinnedDomainFull',
    scope,
    level: levelOf(one, scope),
    facts: {
      scope: scopeText(scope),
      domain: domainText(domainName(task.gang, partition, domain)),
      short: Object.keys(short).length > 0 ? amountsText(short) : `room for ${podsText(pods.length)}`,
    },
  }
}

/** The domain that running pods pin a scope to. Undefined if they are outside every domain. */
function pinnedDomain({ running }: GangTask, { required, groups }: Scope): number | undefined {
  return groups
    .flatMap(group => running[group]!)
    .map(node => required?.partition.domainOf[node] ?? -1)
    .find(domain => domain >= 0)
}

/** Only with `replicaScope: Require`: the gang fits outside the domain of its replica. */
export function replicaDomainFull(one: Case): Cause | undefined {
  const { snapshot, index, cycle, before } = one
  const { replicaScope } = one.task.gang
  if (!replicaScope || one.fits(withGang(snapshot, index, withoutReplicaScope)) !== 'yes') return undefined
  const placed = cycle.results.flatMap(result =>
    result.kind === 'accepted' && before.some(task => task.index === result.task.index)
      ? [{ task: result.task, placement: result.accepted.placement }]
      : [],
  )
  const { replica, gang } = withReplicaDomain(one.task, placed)
  const domain = replicaDomains(withReplicaDomain(one.task, placed)).values().next().value
  if (!replica || domain === undefined) return undefined
  const short = shortage(cycle.model, totalRequests(one.pods), replica.partition.members[domain]!)
  return {
    code: 'PinnedDomainFull',
    level: gang.levels.find(({ key }) => key === replicaScope.key)?.domain ?? replicaScope.key,
    facts: {
      scope: replicaScope.name,
      domain: domainText(domainName(gang, replica.partition, domain)),
      short: Object.keys(short).length > 0 ? amountsText(short) : `room for ${podsText(one.pods.length)}`,
    },
  }
}

export function noDomainFits(one: Case): Cause | undefined {
  const { snapshot, index, task, cycle } = one
  if (one.fits(withGang(snapshot, index, withoutRequiredLevels)) !== 'yes') return undefined
  const scope = failingScope(task, change => one.fits(withGang(snapshot, index, change)))
  if (!scope) return undefined
  const best = bestDomain(cycle.model, task, scope)
  const level = levelOf(one, scope)
  return {
    code: 'NoDomainFits',
    scope,
    level,
    facts: {
      scope: scopeText(scope),
      need: podsText(best.need),
      level,
      domain: best.name,
      have: podsText(best.have),
      short: best.short,
      tried: best.tried,
    },
  }
}

export function nodesFragmented(one: Case): Cause | undefined {
  const nodes = acceptingNodes(one.cycle.model, one.pods)
  if (Object.keys(shortage(one.cycle.model, totalRequests(one.pods), nodes)).length > 0) return undefined
  const { resource } = scarcest(one, nodes)
  // The pod that needs most of the scarcest resource on one node.
  const largest = one.task.minimum
    .flatMap((pods, group) => pods.map(pod => ({ group, amount: pod.needs.requests[resource] ?? 0 })))
    .reduce((best, pod) => (pod.amount > best.amount ? pod : best))
  return {
    code: 'NodesFragmented',
    facts: {
      free: amountText(resource, freeAmount(one.cycle.model, nodes, resource)),
      resource,
      clique: one.task.gang.groups[largest.group]!.name,
      n: amountText(resource, largest.amount),
    },
  }
}
