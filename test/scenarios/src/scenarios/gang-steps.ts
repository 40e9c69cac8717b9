// SPDX-License-Identifier: Apache-2.0

// Checks the objects that schedulers read for a gang, step by step while groups are scaled and the topology changes.
import assert from 'node:assert/strict'
import {
  type ClusterTopologyBinding,
  defaultConfiguration,
  type PodGang,
  podSchedulingGate,
} from '@grove/api'
import { defineResource, isConflict, isNotFound, type KubeObject } from '@grove/kube'
import { resources } from '@grove/operator'
import { installStandIn } from '../custom-kinds.ts'
import type { Harness } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { SetTree } from '../set-tree.ts'

const nodes = defineResource<KubeObject>({
  group: '',
  version: 'v1',
  resource: 'nodes',
  kind: 'Node',
  namespaced: false,
})

/** Simulates a scheduler that is not installed: binds every ungated pod to a node. */
async function placeReleased(harness: Harness, set: string): Promise<void> {
  const [node] = (await harness.client.list(nodes)).items
  for (const { metadata, spec } of await harness.pods(set)) {
    if (spec?.nodeName || spec?.schedulingGates?.some(({ name }) => name === podSchedulingGate)) continue
    const { name, namespace } = metadata
    const target = { apiVersion: 'v1', kind: 'Node', name: node!.metadata.name }
    try {
      await harness.client.raw({
        verb: 'create',
        method: 'POST',
        path: `/api/v1/namespaces/${namespace}/pods/${name}/binding`,
        body: { apiVersion: 'v1', kind: 'Binding', metadata: { name, namespace }, target },
      })
    } catch (error) {
      // The pod was deleted meanwhile.
      if (!isNotFound(error) && !isConflict(error)) throw error
    }
  }
}

const queued = `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: lane, labels: {kai.scheduler/queue: fast, team: road}}
spec:
  replicas: 1
  template:
    priorityClassName: system-cluster-critical
    cliques:
      - name: gate
        spec: {roleName: gate, replicas: 2, minAvailable: 1, podSpec: {containers: [{name: main, image: 'registry.example/gate:1'}]}}
      - name: car
        spec: {roleName: car, replicas: 2, podSpec: {containers: [{name: main, image: 'registry.example/car:1'}]}}
    podCliqueScalingGroups:
      - {name: row, cliqueNames: [car], replicas: 3, minAvailable: 2}
`

/** Formats a PodGroup of KAI: the minimum of each subgroup. */
async function laneGroups(harness: Harness): Promise<string[]> {
  const groups = await harness.list<KubeObject & { spec?: unknown }>(resources.kaiPodGroups, 'lane')
  return groups
    .map(({ metadata, spec }) => {
      const { minMember, queue, priorityClassName, subGroups } = spec as {
        minMember: number
        queue: string
        priorityClassName: string
        subGroups: { name: string; minMember: number }[]
      }
      const members = subGroups.map(one => `${one.minMember} of ${one.name}`).join(', ')
      return `${metadata.name}: ${minMember} in ${queue} as ${priorityClassName}: ${members}`
    })
    .sort()
}

const laneBase =
  'lane-0: 5 in fast as system-cluster-critical: 1 of lane-0-gate, 2 of lane-0-row-0-car, 2 of lane-0-row-1-car'
const laneRow = (row: number) =>
  `lane-0-row-${row - 2}: 2 in fast as system-cluster-critical: 2 of lane-0-row-${row}-car`

async function untilLane(harness: Harness, rows: number): Promise<void> {
  const pods = 2 + 2 * rows
  await harness.until(
    `${pods} ready pods, scheduled by the scenario`,
    async () => {
      await placeReleased(harness, 'lane')
      return harness.pods('lane')
    },
    found => found.length === pods && found.every(pod => pod.status?.phase === 'Running'),
  )
  const wanted = [laneBase, ...[2, 3].filter(row => row < rows).map(laneRow)].sort()
  await harness.until(
    `${wanted.length} PodGroups`,
    () => laneGroups(harness),
    seen => seen.join('\n') === wanted.join('\n'),
  )
}

const domains = {
  zone: 'example.com/zone',
  block: 'example.com/block',
  rack: 'example.com/rack',
  host: 'example.com/host',
}

function binding(name: string, levels: Readonly<Record<string, string>>): ClusterTopologyBinding {
  return {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'ClusterTopologyBinding',
    metadata: { name },
    spec: { levels: Object.entries(levels).map(([domain, key]) => ({ domain, key })) },
  } as ClusterTopologyBinding
}

const packed = (topology: string) => `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: pack}
spec:
  replicas: 1
  template:
    topologyConstraint: {topologyName: ${topology}, pack: {required: block}}
    cliques:
      - name: door
        spec: {roleName: door, replicas: 2, podSpec: {containers: [{name: main, image: 'registry.example/door:1'}]}}
      - name: box
        topologyConstraint: {pack: {required: host}}
        spec: {roleName: box, replicas: 2, podSpec: {containers: [{name: main, image: 'registry.example/box:1'}]}}
    podCliqueScalingGroups:
      - {name: pile, cliqueNames: [box], replicas: 2, minAvailable: 1, topologyConstraint: {pack: {required: rack}}}
`

/** Formats the topology constraints as node label keys; a dash means no constraint. */
function packing({ metadata, spec }: PodGang): string {
  const keyOf = (part: { topologyConstraint?: { packConstraint?: { required?: string } } }) =>
    part.topologyConstraint?.packConstraint?.required ?? '-'
  const parts = [...(spec.topologyConstraintGroupConfigs ?? []), ...spec.podgroups]
  const topology = metadata.annotations?.['grove.io/topology-name'] ? 'named' : 'unnamed'
  return `${metadata.name} ${topology} ${keyOf(spec)}: ${parts.map(part => `${part.name} ${keyOf(part)}`).join(', ')}`
}

async function untilPacked(harness: Harness, reason: string, wanted: readonly string[]): Promise<void> {
  await harness.until(
    `gangs whose topology is ${reason}`,
    async () => (await harness.gangs('pack')).map(packing).sort(),
    seen => seen.join('\n') === wanted.join('\n'),
  )
  await harness.until(
    `the condition of the set to be ${reason}`,
    async () => (await harness.set('pack'))?.status?.conditions ?? [],
    conditions => conditions.some(one => one.type === 'TopologyLevelsUnavailable' && one.reason === reason),
  )
}

const packedPods = [
  'set pack: 1 wanted, 1 available, 1 updated',
  'group pack-0-pile: 2 wanted, 2 available, 2 updated',
  'clique pack-0-door: 2 of 2 ready, 2 updated, gang pack-0',
  'clique pack-0-pile-0-box: 2 of 2 ready, 2 updated, gang pack-0',
  'clique pack-0-pile-1-box: 2 of 2 ready, 2 updated, gang pack-0-pile-0',
  'gang pack-0: pack-0-door 2 of 0 1, pack-0-pile-0-box 2 of 0 1',
  'gang pack-0-pile-0: pack-0-pile-1-box 2 of 0 1',
  'service pack-0',
]

const profile = 'kai-scheduler'

export const gangStepScenarios: Scenario[] = [
  {
    name: 'KAI: a group that is scaled out and in has one PodGroup per gang and keeps the remaining pods',
    configuration: {
      ...defaultConfiguration(),
      scheduler: {
        profiles: [{ name: profile }, { name: 'default-scheduler' }],
        defaultProfileName: profile,
      },
    },
    async run(harness) {
      await harness.stopOperator()
      await installStandIn(harness.client, resources.kaiPodGroups)
      await harness.startOperator()
      await harness.apply(queued)
      await untilLane(harness, 3)
      const before = await harness.pods('lane')
      await harness.scale(resources.podCliqueScalingGroups, 'lane-0-row', 4)
      await untilLane(harness, 4)
      await harness.scale(resources.podCliqueScalingGroups, 'lane-0-row', 2)
      await untilLane(harness, 2)
      const kept = new Set(before.map(({ metadata }) => metadata.uid))
      assert.ok((await harness.pods('lane')).every(({ metadata }) => kept.has(metadata.uid)))
    },
  },
  {
    name: 'a topology that loses a level, and then is deleted, removes the constraints and moves no pod',
    configuration: { ...defaultConfiguration(), topologyAwareScheduling: { enabled: true } },
    async run(harness) {
      const name = `${harness.namespace}-site`
      await harness.client.create(resources.clusterTopologyBindings, binding(name, domains))
      await harness.apply(packed(name))
      const tree = new SetTree(harness, 'pack')
      await tree.until('everything', packedPods)
      const { block, rack, host } = domains
      await untilPacked(harness, 'AllClusterTopologyLevelsAvailable', [
        `pack-0 named ${block}: pack-0-pile-0 ${rack}, pack-0-door -, pack-0-pile-0-box ${host}`,
        `pack-0-pile-0 named ${rack}: pack-0-pile-1-box ${host}`,
      ])
      const { zone } = domains
      await harness.client.patch(
        resources.clusterTopologyBindings,
        { name },
        { merge: { spec: binding(name, { zone, block, host: 'example.com/machine' }).spec } },
      )
      await untilPacked(harness, 'ClusterTopologyLevelsUnavailable', [
        `pack-0 named ${block}: pack-0-pile-0 -, pack-0-door -, pack-0-pile-0-box example.com/machine`,
        'pack-0-pile-0 named -: pack-0-pile-1-box example.com/machine',
      ])
      await tree.until('every pod on its former node', packedPods)
      await harness.client.delete(resources.clusterTopologyBindings, { name })
      await untilPacked(harness, 'ClusterTopologyNotFound', [
        'pack-0 unnamed -: pack-0-pile-0 -, pack-0-door -, pack-0-pile-0-box -',
        'pack-0-pile-0 unnamed -: pack-0-pile-1-box -',
      ])
      await tree.until('every pod on its former node', packedPods)
    },
  },
]
