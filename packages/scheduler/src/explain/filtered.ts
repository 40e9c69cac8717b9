// SPDX-License-Identifier: Apache-2.0
import { keepsAway, tolerates } from '../filters/taints.ts'
import { compareText } from '../order.ts'
import type { SnapshotPod } from '../types.ts'
import type { Case, Cause } from './case.ts'
import { acceptingNodes } from './evidence.ts'
import { namesText } from './text.ts'
import { withNodes, withoutBoundPods } from './variants.ts'

const readinessTaints = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']

export function terminating(one: Case): Cause | undefined {
  const evicted = new Set(one.cycle.evictions.map(({ namespace, pod }) => `${namespace}/${pod}`))
  const leaves = ({ terminating, namespace, name }: SnapshotPod) =>
    terminating || (evicted.size > 0 && evicted.has(`${namespace}/${name}`))
  const leaving = one.snapshot.boundPods.filter(leaves)
  if (leaving.length === 0) return undefined
  if (one.fits(withoutBoundPods(one.snapshot, leaves)) !== 'yes') return undefined
  const nodes = [...new Set(leaving.map(({ node }) => node!))].sort(compareText)
  return { code: 'Terminating', facts: { n: leaving.length, nodes: namesText(nodes) } }
}

export function notReady(one: Case): Cause | undefined {
  const isReadiness = ({ key }: { key: string }) => readinessTaints.includes(key)
  const nodes = one.snapshot.nodes.filter(({ taints }) => taints.some(isReadiness))
  if (nodes.length === 0) return undefined
  const ready = withNodes(one.snapshot, node => ({
    ...node,
    taints: node.taints.filter(taint => !isReadiness(taint)),
  }))
  if (one.fits(ready) !== 'yes') return undefined
  return { code: 'NodesNotReady', facts: { nodes: namesText(nodes.map(({ name }) => name)) } }
}

export function cordoned(one: Case): Cause | undefined {
  const nodes = one.snapshot.nodes.filter(({ unschedulable }) => unschedulable)
  if (nodes.length === 0 || one.fits(one.snapshot, ['cordon']) !== 'yes') return undefined
  return { code: 'NodesCordoned', facts: { nodes: namesText(nodes.map(({ name }) => name)) } }
}

export function taintsNotTolerated(one: Case): Cause | undefined {
  if (!one.snapshot.nodes.some(({ taints }) => taints.some(keepsAway))) return undefined
  if (one.fits(one.snapshot, ['taint']) !== 'yes') return undefined
  for (const [group, pods] of one.task.minimum.entries())
    for (const { needs } of pods) {
      const found = one.snapshot.nodes
        .flatMap(({ taints }) => taints)
        .find(taint => keepsAway(taint) && !tolerates(needs.tolerations, taint))
      if (!found) continue
      const n = one.snapshot.nodes.filter(({ taints }) =>
        taints.some(taint => taint.key === found.key),
      ).length
      const taint = `${found.key}${found.value ? `=${found.value}` : ''}:${found.effect}`
      return { code: 'TaintsNotTolerated', facts: { clique: one.task.gang.groups[group]!.name, taint, n } }
    }
  return undefined
}

export function portsInUse(one: Case): Cause | undefined {
  const ports = one.pods.flatMap(({ needs }) => needs.hostPorts)
  if (ports.length === 0 || one.fits(one.snapshot, ['ports']) !== 'yes') return undefined
  const { port } = ports[0]!
  const used = new Set(
    one.snapshot.boundPods
      .filter(({ needs }) => needs.hostPorts.some(other => other.port === port))
      .map(pod => pod.node),
  )
  return { code: 'PortsInUse', facts: { port, n: used.size, m: one.snapshot.nodes.length } }
}

export function podAffinityUnsatisfied(one: Case): Cause | undefined {
  const { model } = one.cycle
  if (!model.readsOtherPods || one.fits(one.snapshot, ['affinity']) !== 'yes') return undefined
  const hasRule = ({ needs }: SnapshotPod) =>
    needs.podAffinity.length + needs.podAntiAffinity.length + needs.spread.length > 0
  const group = one.task.minimum.findIndex(pods => pods.some(hasRule))
  // Without rules of their own, pods are kept away by the anti-affinity of running pods.
  const at = group >= 0 ? group : one.task.minimum.findIndex(pods => pods.length > 0)
  const [pod] = one.task.minimum[at]!
  if (!pod) return undefined
  const { podAffinity, spread } = pod.needs
  const rule =
    podAffinity.length > 0 ? 'pod affinity' : spread.length > 0 ? 'topology spread' : 'pod anti-affinity'
  return {
    code: 'PodAffinityUnsatisfied',
    facts: {
      rule,
      clique: one.task.gang.groups[at]!.name,
      have: acceptingNodes(model, [pod]).filter(node => model.capacity(model.shapes.of(pod), node) > 0)
        .length,
      need: one.task.minimum[at]!.length,
    },
  }
}

export function volumeUnavailable(one: Case): Cause | undefined {
  const group = one.task.minimum.findIndex(pods => pods.some(({ needs }) => needs.volumeSelectors.length > 0))
  if (group < 0 || one.fits(one.snapshot, ['volume']) !== 'yes') return undefined
  const [pod] = one.task.minimum[group]!
  return {
    code: 'VolumeUnavailable',
    facts: { clique: one.task.gang.groups[group]!.name, n: acceptingNodes(one.cycle.model, [pod!]).length },
  }
}
