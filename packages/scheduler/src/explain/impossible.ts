// SPDX-License-Identifier: Apache-2.0
import { isDeviceResource } from '../devices/selections.ts'
import { Model } from '../model/model.ts'
import { noPods } from '../model/usage.ts'
import { compareText } from '../order.ts'
import { taskOf } from '../planner/gang-demand.ts'
import { allScopes } from '../planner/scopes.ts'
import type { Gang, Snapshot, SnapshotPod } from '../types.ts'
import { bestDomain, type Case, type Cause, emptyCluster, failingScope, levelOf } from './case.ts'
import { acceptingNodes, greedyCount } from './evidence.ts'
import { amountText, podsText, scopeText } from './text.ts'
import { fromScratch, withGang, withoutRequiredLevels, withRequired } from './variants.ts'

export function tooLarge({ snapshot, task }: Case): Cause | undefined {
  const empty = new Model({ ...snapshot, boundPods: noPods, gangs: [task.gang] }, new Set(emptyCluster))
  const fitsOnSome = (pod: SnapshotPod) => empty.roomOf(empty.shapes.of(pod)).total > 0
  for (const [group, pods] of task.minimum.entries()) {
    const { name, candidates } = task.gang.groups[group]!
    const tooLarge = pods.find(pod => !fitsOnSome(pod))
    // Other pods of the group can form the minimum if they have another template.
    if (!tooLarge || candidates.filter(fitsOnSome).length >= pods.length) continue
    const { resource, need, node, have } = largestShortage(snapshot, empty, tooLarge)
    return {
      code: 'PodTooLarge',
      facts: {
        clique: name,
        need: amountText(resource, need),
        resource,
        node: snapshot.nodes[node]!.name,
        have: amountText(resource, have),
      },
    }
  }
  return undefined
}

interface Shortage {
  readonly resource: string
  readonly need: number
  readonly node: number
  readonly have: number
  /** The need as a multiple of what the node has. */
  readonly factor: number
}

/**
 * The resource of which even the largest node has too little. If each resource alone is sufficient on some node, the resource
 * that the node with the smallest shortage lacks.
 */
function largestShortage(snapshot: Snapshot, empty: Model, pod: SnapshotPod): Shortage {
  const nodes = acceptingNodes(empty, [pod])
  const requests = Object.entries(pod.needs.requests).filter(([resource]) => !isDeviceResource(resource))
  const shortageOn = (node: number, resource: string, need: number): Shortage => {
    const have = snapshot.nodes[node]!.allocatable[resource] ?? 0
    return { resource, need, node, have, factor: need / Math.max(1, have) }
  }
  const most = (all: readonly Shortage[]) =>
    all.toSorted((a, b) => b.factor - a.factor || compareText(a.resource, b.resource))[0]!
  const onLargest = most(
    requests.map(([resource, need]) =>
      nodes.map(node => shortageOn(node, resource, need)).reduce((a, b) => (b.have > a.have ? b : a)),
    ),
  )
  if (onLargest.have < onLargest.need) return onLargest
  return nodes
    .map(node => most(requests.map(([resource, need]) => shortageOn(node, resource, need))))
    .reduce((a, b) => (b.factor < a.factor ? b : a))
}

/** The cluster with empty nodes and only this gang, from scratch. */
function emptied({ snapshot, index }: Case): Snapshot {
  return withGang({ ...snapshot, boundPods: noPods }, index, fromScratch)
}

/**
 * The missing pods fit next to the running pods of the gang if no other pod runs. Running pods may be where no plan would
 * put them: levels may have been added or renamed since.
 */
function fitsNextToOwnPods({ snapshot, task, fits }: Case): boolean {
  const { namespace, name } = task.gang
  const own = snapshot.boundPods.filter(pod => pod.namespace === namespace && pod.gang === name)
  const relaxed = emptyCluster.filter(filter => filter !== 'boundPods')
  return own.length > 0 && fits({ ...snapshot, boundPods: own }, relaxed, []) === 'yes'
}

/**
 * The gang without required levels that have no domain. Only scopes whose pods all run have such a level here: nodes may have
 * lost their labels since.
 */
function withoutUnlabelledLevels({ task }: Case, gang: Gang): Gang {
  return allScopes(task.scope)
    .filter(({ required }) => required?.partition.domains.length === 0)
    .reduce(
      (changed, { name, kind }) => (kind === 'replica' ? changed : withRequired(changed, name, kind, null)),
      gang,
    )
}

export function clusterTooSmall(one: Case): Cause | undefined {
  const snapshot = withGang(emptied(one), one.index, withoutRequiredLevels)
  if (one.fits(snapshot, emptyCluster, []) !== 'no' || fitsNextToOwnPods(one)) return undefined
  const gang = snapshot.gangs[one.index]!
  const model = new Model({ ...snapshot, gangs: [gang] }, new Set(emptyCluster))
  const pods = taskOf(model, gang, one.index).minimum.flat()
  const nodes = acceptingNodes(model, pods)
  return {
    code: 'ClusterTooSmall',
    facts: { need: podsText(pods.length), n: nodes.length, have: podsText(greedyCount(model, pods, nodes)) },
  }
}

export function domainTooSmall(one: Case): Cause | undefined {
  const snapshot = withGang(emptied(one), one.index, gang => withoutUnlabelledLevels(one, gang))
  if (one.fits(snapshot, emptyCluster, []) !== 'no' || fitsNextToOwnPods(one)) return undefined
  const gang = snapshot.gangs[one.index]!
  const model = new Model({ ...snapshot, gangs: [gang] }, new Set(emptyCluster))
  const task = taskOf(model, gang, one.index)
  const scope = failingScope(task, change =>
    one.fits(withGang(snapshot, one.index, change), emptyCluster, []),
  )
  if (!scope) return undefined
  const best = bestDomain(model, task, scope)
  const level = levelOf(one, scope)
  return {
    code: 'DomainTooSmall',
    scope,
    level,
    facts: {
      scope: scopeText(scope),
      need: podsText(best.need),
      level,
      domain: best.name,
      have: podsText(best.have),
    },
  }
}
