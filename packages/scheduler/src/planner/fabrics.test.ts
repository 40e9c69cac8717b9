// SPDX-License-Identifier: Apache-2.0

// Fabrics with published sizes. The resources of a node are chosen for the tests.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, Pod } from '@grove/api'
import { defaultPolicy, plan, snapshotFrom } from '../index.ts'
import { gpu, memberPod, node, podGang, topologyBinding } from '../testing/objects.ts'
import type { Decision, SnapshotObjects } from '../types.ts'

interface Fabric {
  readonly levels: readonly string[]
  readonly leaves: readonly { readonly path: readonly string[]; readonly count: number }[]
}

const keyOf = (level: string) => `fabric.example.com/${level}`
const whole = { [gpu]: '8' }

function nodesOf(
  { levels, leaves }: Fabric,
  name = (leaf: string, index: number, _total: number) => `${leaf}-${index}`,
): Node[] {
  let total = 0
  return leaves.flatMap(({ path, count }) =>
    Array.from({ length: count }, (_, i) =>
      node(
        name(path.at(-1)!, i, ++total),
        { ...whole, cpu: '128' },
        {
          labels: Object.fromEntries(path.map((value, level) => [keyOf(levels[level]!), value])),
        },
      ),
    ),
  )
}

const bindingOf = ({ levels }: Fabric) =>
  topologyBinding('fabric', Object.fromEntries(levels.map(level => [level, keyOf(level)])))

const members = (gang: string, count: number, bound: readonly string[] = []): Pod[] =>
  Array.from({ length: count }, (_, i) =>
    memberPod(gang, `${gang}-c`, i, whole, bound[i] === undefined ? {} : { node: bound[i] }),
  )

const gang = (name: string, min: number, options: object) =>
  podGang(name, [{ name: `${name}-c`, min }], { topology: 'fabric', ...options })

const decide = (objects: SnapshotObjects): Decision => plan(snapshotFrom(objects), defaultPolicy, 0)

function usedDomains(decision: Decision, nodes: readonly Node[], level: string, name: string): string[] {
  const labels = new Map(nodes.map(({ metadata }) => [metadata.name, metadata.labels?.[keyOf(level)] ?? '']))
  return [
    ...new Set(
      decision.bindings.filter(binding => binding.gang === name).map(({ node }) => labels.get(node)!),
    ),
  ].sort()
}

const leafGroups: Fabric = {
  levels: ['fabric', 'superpod', 'leafgroup'],
  leaves: [
    ...[11, 8, 6, 6, 5, 5].map((count, i) => ({ path: ['f', 's0', `lg-${i}`], count })),
    ...[6, 3, 3, 3, 2, 2, 2, 1, 1].map((count, i) => ({ path: ['f', 's1', `lg-${i + 6}`], count })),
  ],
}

test('64 nodes in 15 leaf groups: two 8-node gangs fit, a third waits', () => {
  const nodes = nodesOf(leafGroups)
  const names = ['a', 'b', 'c']
  const objects = {
    nodes,
    topologyBindings: [bindingOf(leafGroups)],
    podGangs: names.map(name => gang(name, 8, { required: keyOf('leafgroup') })),
    pods: names.flatMap(name => members(name, 8)),
  }
  const decision = decide(objects)
  deepEqual(
    decision.gangs.map(({ verdict }) => verdict),
    ['Scheduled', 'Scheduled', 'Unschedulable'],
  )
  deepEqual(['a', 'b'].flatMap(name => usedDomains(decision, nodes, 'leafgroup', name)).sort(), [
    'lg-0',
    'lg-1',
  ])
  const nodeOf = new Map(decision.bindings.map(({ pod, node }) => [pod, node]))
  const bound = objects.pods.map(pod => {
    const nodeName = nodeOf.get(pod.metadata.name)
    return nodeName ? { ...pod, spec: { ...pod.spec, nodeName } } : pod
  })
  const waiting = decide({ ...objects, pods: bound }).gangs[2]
  equal(waiting?.explanation?.code, 'NoDomainFits')
  equal(
    waiting?.explanation?.message,
    'PodGang c needs 8 pods in one leafgroup; best is f/s0/lg-2 with 6 pods (16 nvidia.com/gpu missing), 15 tried',
  )
})

test('an 8-node gang uses the leaf group of 8 nodes and leaves the larger one unused', () => {
  const nodes = nodesOf(leafGroups)
  const decision = decide({
    nodes,
    topologyBindings: [bindingOf(leafGroups)],
    podGangs: [gang('a', 8, { required: keyOf('leafgroup') })],
    pods: members('a', 8),
  })
  deepEqual(usedDomains(decision, nodes, 'leafgroup', 'a'), ['lg-1'])
})

test('12 nodes in a binary tree with five cordoned: three pods share the only spine with three free nodes', () => {
  const network: Fabric = {
    levels: ['datacenter', 'spine', 'block'],
    leaves: [1, 2, 3, 4, 5, 6].map(i => ({ path: ['sw31', `sw2${Math.ceil(i / 2)}`, `sw1${i}`], count: 2 })),
  }
  const cordoned = ['n1', 'n3', 'n6', 'n11', 'n12']
  const nodes = nodesOf(network, (_, __, total) => `n${total}`).map(entry =>
    cordoned.includes(entry.metadata.name) ? { ...entry, spec: { unschedulable: true } } : entry,
  )
  const decision = decide({
    nodes,
    topologyBindings: [bindingOf(network)],
    podGangs: [gang('g', 3, { preferred: keyOf('spine') })],
    pods: members('g', 3),
  })
  deepEqual(
    decision.bindings.map(({ node }) => node),
    ['n5', 'n7', 'n8'],
  )
  equal(decision.gangs[0]?.placementScore, 1)
})

test('four NVL72 racks of 18 nodes: a gang of 32 uses two racks of one spine', () => {
  const nvl72: Fabric = {
    levels: ['datacenter', 'spine', 'block'],
    leaves: ['1-1', '1-2', '2-1', '2-2'].map(leaf => ({
      path: ['core', `spine-${leaf[0]}`, `leaf-${leaf}`],
      count: 18,
    })),
  }
  const nodes = nodesOf(nvl72)
  const decision = decide({
    nodes,
    topologyBindings: [bindingOf(nvl72)],
    podGangs: [gang('g', 32, { preferred: keyOf('block') })],
    pods: members('g', 32),
  })
  deepEqual(usedDomains(decision, nodes, 'block', 'g').length, 2)
  deepEqual(usedDomains(decision, nodes, 'spine', 'g').length, 1)
  // Pods of neighbouring ranks are in the same rack: the rack changes once.
  const racks = decision.bindings.map(({ node }) => node.slice(0, 'leaf-1-1'.length))
  equal(racks.filter((rack, i) => i > 0 && rack !== racks[i - 1]).length, 1)
})

test('irregular racks of 9, 7 and 5 nodes: a gang of 9 finds a full rack, one of 10 does not', () => {
  const irregular: Fabric = {
    levels: ['datacenter', 'accelerator', 'rack'],
    leaves: [9, 7, 9, 5, 9].map((count, i) => ({ path: ['core', `d${i % 2}`, `rack-${i}`], count })),
  }
  const nodes = nodesOf(irregular)
  const verdict = (size: number) =>
    decide({
      nodes,
      topologyBindings: [bindingOf(irregular)],
      podGangs: [gang('g', size, { required: keyOf('rack') })],
      pods: members('g', size),
    }).gangs[0]
  equal(verdict(9)?.verdict, 'Scheduled')
  equal(verdict(10)?.explanation?.code, 'DomainTooSmall')
  ok(verdict(10)?.explanation?.fixes.some(({ op }) => op === 'RelaxTopology'))
})

test('255 nodes in two domains of irregular racks: 28 gangs of 8 and 9 nodes fill every rack that holds them', () => {
  const racks = [
    [9, 9, 7, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9],
    [9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 5, 9],
  ]
  const irregular: Fabric = {
    levels: ['datacenter', 'domain', 'rack'],
    leaves: racks.flatMap((counts, domain) =>
      counts.map((count, rack) => ({ path: ['core', `d${domain}`, `rack-${domain}-${rack}`], count })),
    ),
  }
  const nodes = nodesOf(irregular)
  equal(nodes.length, 255)
  const names = Array.from({ length: 28 }, (_, i) => `g${String(i).padStart(2, '0')}`)
  const sizeOf = (name: string) => (Number(name.slice(1)) % 2 === 0 ? 9 : 8)
  const objects = {
    nodes,
    topologyBindings: [bindingOf(irregular)],
    podGangs: names.map(name => gang(name, sizeOf(name), { required: keyOf('rack') })),
    pods: names.flatMap(name => members(name, sizeOf(name))),
  }
  const decision = decide(objects)
  // 27 racks have nine nodes. The racks of seven and five hold no gang.
  equal(decision.gangs.filter(({ verdict }) => verdict === 'Scheduled').length, 27)
  equal(decision.gangs.at(-1)?.explanation?.code, 'HeldForEarlierGang')
  const used = new Set<string>()
  for (const name of names.slice(0, 27)) {
    const domains = usedDomains(decision, nodes, 'rack', name)
    equal(domains.length, 1, name)
    ok(!used.has(domains[0]!), `${domains[0]} is used twice`)
    used.add(domains[0]!)
  }
})

test('irregular racks: a gang of 14 fills a rack of nine and one of five, and leaves no rack partly used', () => {
  const irregular: Fabric = {
    levels: ['datacenter', 'domain', 'rack'],
    leaves: [
      ...[9, 9, 7].map((count, rack) => ({ path: ['core', 'd0', `rack-0-${rack}`], count })),
      ...[9, 5, 9].map((count, rack) => ({ path: ['core', 'd1', `rack-1-${rack}`], count })),
    ],
  }
  const nodes = nodesOf(irregular)
  const decision = decide({
    nodes,
    topologyBindings: [bindingOf(irregular)],
    podGangs: [gang('g', 14, { required: keyOf('domain'), preferred: keyOf('rack') })],
    pods: members('g', 14),
  })
  equal(usedDomains(decision, nodes, 'domain', 'g').length, 1)
  equal(usedDomains(decision, nodes, 'rack', 'g').length, 2)
  // The racks of nine and five are full, so that no rack is partly used.
  deepEqual(usedDomains(decision, nodes, 'rack', 'g').includes('rack-1-1'), true)
})
