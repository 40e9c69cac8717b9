// SPDX-License-Identifier: Apache-2.0
import { isDeviceResource } from '../devices/selections.ts'
import { Model } from '../model/model.ts'
import { noPods } from '../model/usage.ts'
import { compareText } from '../order.ts'
import { taskOf } from '../planner/gang-demand.ts'
import type { Snapshot } from '../types.ts'
import { bestDomain, type Case, type Cause, emptyCluster, failingScope, levelOf } from './case.ts'
import { acceptingNodes, distinct, greedyCount } from './evidence.ts'
import { amountText, podsText, scopeText } from './text.ts'
import { fromScratch, withGang, withoutRequiredLevels } from './variants.ts'

export function tooLarge({ snapshot, task }: Case): Cause | undefined {
  const empty = new Model({ ...snapshot, boundPods: noPods, gangs: [task.gang] }, new Set(emptyCluster))
  for (const [group, pods] of task.minimum.entries())
    for (const pod of distinct(pods)) {
      const shape = empty.shapes.of(pod)
      const nodes = acceptingNodes(empty, [pod])
      if (nodes.some(node => empty.capacity(shape, node) > 0)) continue
      const clique = task.gang.groups[group]!.name
      // The resource with the largest shortage on the best node, as a factor.
      const missing = Object.entries(pod.needs.requests)
        .filter(([resource]) => !isDeviceResource(resource))
        .map(([resource, need]) => {
          const largest = nodes.reduce(
            (best, node) => {
              const have = snapshot.nodes[node]!.allocatable[resource] ?? 0
              return have > best.have ? { node, have } : best
            },
            { node: nodes[0]!, have: -1 },
          )
          return { resource, need, ...largest, factor: need / Math.max(1, largest.have) }
        })
        .sort((a, b) => b.factor - a.factor || compareText(a.resource, b.resource))[0]!
      return {
        code: 'PodTooLarge',
        facts: {
          clique,
          need: amountText(missing.resource, missing.need),
          resource: missing.resource,
          node: snapshot.nodes[missing.node]!.name,
          have: amountText(missing.resource, missing.have),
        },
      }
    }
  return undefined
}

/** The cluster with empty nodes and only this gang, from scratch. */
export function emptied({ snapshot, index }: Case): Snapshot {
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
  const snapshot = emptied(one)
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
