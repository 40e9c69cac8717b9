// SPDX-License-Identifier: Apache-2.0

// The topology constraints of every level in the PodGroups that KAI reads. KAI is not installed; the scenarios read its
// objects instead.
import assert from 'node:assert/strict'
import { annotation, conditionType, label, type TopologyConstraint } from '@grove/api'
import type { KubeObject } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Harness } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { bind, fabric, installKai, packedByKai, unbind } from './topology-bindings.ts'

/** Another kind of machines: the same names of domains, other node labels. */
const otherFabric = { block: 'site/rack', host: 'site/host' }

interface Part {
  readonly name: string
  readonly replicas: number
  readonly packed?: string
  /** Cliques of a group. */
  readonly of?: readonly string[]
  readonly minAvailable?: number
}

/** `block` requires a domain, `~rack` prefers one, `block~rack` does both. */
function constraint(packed: string | undefined, topologyName?: string): TopologyConstraint | undefined {
  if (packed === undefined) return undefined
  const [required, preferred] = packed.split('~')
  const pack = { ...(required && { required }), ...(preferred && { preferred }) }
  return { ...(topologyName && { topologyName }), pack }
}

function manifest(
  name: string,
  topology: string,
  packed: string | undefined,
  parts: readonly Part[],
  replicas = 1,
): string {
  // The outermost constraint names the topology.
  const nameOf = () => (packed === undefined ? topology : undefined)
  const cliques = parts
    .filter(({ of }) => !of)
    .map(({ name, replicas, packed }) => ({
      name,
      topologyConstraint: constraint(packed, nameOf()),
      spec: {
        roleName: name,
        replicas,
        podSpec: { containers: [{ name: 'main', image: `registry.example/${name}:1` }] },
      },
    }))
  const groups = parts
    .filter(({ of }) => of)
    .map(({ name, replicas, packed, of, minAvailable = replicas }) => ({
      name,
      cliqueNames: of,
      replicas,
      minAvailable,
      topologyConstraint: constraint(packed, nameOf()),
    }))
  return JSON.stringify({
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueSet',
    metadata: { name, labels: { [label.kaiQueue]: 'fast' } },
    spec: {
      replicas,
      template: {
        topologyConstraint: constraint(packed, topology),
        cliques,
        podCliqueScalingGroups: groups,
      },
    },
  })
}

interface KaiConstraint {
  readonly topology?: string
  readonly requiredTopologyLevel?: string
  readonly preferredTopologyLevel?: string
}

interface SubGroup {
  readonly name: string
  readonly minMember?: number
  readonly minSubGroup?: number
  readonly parent?: string
  readonly topologyConstraint?: KaiConstraint
}

/** Formats PodGroups: each level with its node label, without the prefixes that all have. */
async function podGroups(harness: Harness, set: string): Promise<string[]> {
  const found = await harness.list<KubeObject & { spec?: unknown }>(resources.kaiPodGroups, set)
  return found
    .map(({ metadata, spec }) => {
      const { topologyConstraint, subGroups } = spec as {
        topologyConstraint: KaiConstraint
        subGroups: SubGroup[]
      }
      const parts = subGroups.map(one => {
        const parent = one.parent ? ` in ${short(one.parent, set)}` : ''
        const size = one.minMember ?? `${one.minSubGroup} groups`
        return `${short(one.name, set)} ${size}${parent}${level(one.topologyConstraint)}`
      })
      return `${metadata.name}${level(topologyConstraint)}: ${parts.join(', ')}`
    })
    .sort()
}

const short = (name: string, set: string) => name.replace(`${set}-0-`, '')

function level(of: KaiConstraint | undefined): string {
  if (!of?.topology) return ''
  const { topology, requiredTopologyLevel, preferredTopologyLevel } = of
  const levels = [
    requiredTopologyLevel && `requires ${requiredTopologyLevel}`,
    preferredTopologyLevel && `prefers ${preferredTopologyLevel}`,
  ]
  return ` (${[topology.split('-').at(-1), ...levels.filter(Boolean)].join(', ')})`
}

const worker = { name: 'worker', replicas: 1 }

/** Sets by name: the topology, the constraint of the set, its parts, and the PodGroups. */
const packings: readonly [string, 'fabric' | 'other', string | undefined, readonly Part[], string[]][] = [
  [
    'cliques',
    'fabric',
    undefined,
    [
      { name: 'near', replicas: 3, packed: 'rack' },
      { name: 'far', replicas: 4, packed: 'block' },
    ],
    ['cliques-0: near 3 (fabric, requires site/rack), far 4 (fabric, requires site/block)'],
  ],
  [
    'sets',
    'fabric',
    'rack',
    [worker, { name: 'router', replicas: 2 }, { name: 'eng', replicas: 2, of: ['worker'] }],
    ['sets-0 (fabric, requires site/rack): router 2, eng-0-worker 1, eng-1-worker 1'],
  ],
  [
    'groups',
    'fabric',
    undefined,
    [worker, { name: 'router', replicas: 2 }, { name: 'eng', replicas: 2, of: ['worker'], packed: 'rack' }],
    [
      'groups-0: eng-0 1 groups (fabric, requires site/rack), eng-1 1 groups (fabric, requires site/rack), router 2, eng-0-worker 1 in eng-0, eng-1-worker 1 in eng-1',
    ],
  ],
  [
    'all',
    'fabric',
    'block',
    [
      { name: 'pre', replicas: 2, packed: 'host' },
      { name: 'dec', replicas: 2, packed: 'host' },
      { name: 'eng', replicas: 1, of: ['pre', 'dec'], packed: 'rack' },
    ],
    [
      'all-0 (fabric, requires site/block): eng-0 2 groups (fabric, requires site/rack), eng-0-pre 2 in eng-0 (fabric, requires site/host), eng-0-dec 2 in eng-0 (fabric, requires site/host)',
    ],
  ],
  [
    'scaled',
    'fabric',
    'block',
    [worker, { name: 'eng', replicas: 3, minAvailable: 1, of: ['worker'], packed: 'rack' }],
    [
      'scaled-0 (fabric, requires site/block): eng-0 1 groups (fabric, requires site/rack), eng-0-worker 1 in eng-0',
      'scaled-0-eng-0 (fabric, requires site/rack): eng-1-worker 1',
      'scaled-0-eng-1 (fabric, requires site/rack): eng-2-worker 1',
    ],
  ],
  [
    'large',
    'fabric',
    'block',
    [
      { ...worker, packed: 'host' },
      { name: 'eng', replicas: 3, minAvailable: 2, of: ['worker'] },
    ],
    [
      'large-0 (fabric, requires site/block): eng-0-worker 1 (fabric, requires site/host), eng-1-worker 1 (fabric, requires site/host)',
      'large-0-eng-0 (fabric, requires site/block): eng-2-worker 1 (fabric, requires site/host)',
    ],
  ],
  [
    'soft',
    'fabric',
    'block~rack',
    [
      worker,
      { name: 'router', replicas: 1, packed: '~host' },
      { name: 'eng', replicas: 2, minAvailable: 1, of: ['worker'], packed: '~host' },
    ],
    [
      'soft-0 (fabric, requires site/block, prefers site/rack): eng-0 1 groups (fabric, prefers site/host), router 1 (fabric, prefers site/host), eng-0-worker 1 in eng-0',
      'soft-0-eng-0 (fabric, prefers site/host): eng-1-worker 1',
    ],
  ],
  ['others', 'other', 'block', [worker], ['others-0 (other, requires site/rack): worker 1']],
  ['none', 'fabric', undefined, [worker], ['none-0: worker 1']],
]

async function untilCondition(harness: Harness, set: string, wanted: string): Promise<void> {
  await harness.until(
    `the topology of ${set} to be ${wanted}`,
    async () => (await harness.set(set))?.status?.conditions ?? [],
    conditions =>
      conditions.some(
        ({ type, status, reason }) =>
          type === conditionType.topologyLevelsUnavailable && `${status}/${reason}` === wanted,
      ),
  )
}

export const topologyPackingScenarios: Scenario[] = [
  {
    name: 'KAI: the PodGroups of a set have the constraints of the set, its groups and its cliques',
    configuration: packedByKai,
    async run(harness) {
      await installKai(harness)
      const topologies = { fabric: `${harness.namespace}-fabric`, other: `${harness.namespace}-other` }
      await bind(harness, topologies.fabric, fabric)
      await bind(harness, topologies.other, otherFabric)
      for (const [set, topology, packed, parts] of packings)
        await harness.apply(manifest(set, topologies[topology], packed, parts))
      for (const [set, , , , wanted] of packings) {
        const found = await harness.until(
          `${wanted.length} PodGroups of ${set}`,
          () => podGroups(harness, set),
          all => all.length === wanted.length,
        )
        assert.deepEqual(found, wanted)
        await untilCondition(harness, set, 'False/AllClusterTopologyLevelsAvailable')
      }
      await unbind(harness, ...Object.values(topologies))
    },
  },
  {
    name: 'KAI: a replica that is added while the topology is missing has no constraints, and no other replica waits for it',
    configuration: packedByKai,
    async run(harness) {
      await installKai(harness)
      const topology = `${harness.namespace}-fabric`
      await bind(harness, topology, fabric)
      await harness.apply(manifest('late', topology, 'rack', [{ name: 'worker', replicas: 2 }], 0))
      await untilCondition(harness, 'late', 'False/AllClusterTopologyLevelsAvailable')
      await unbind(harness, topology)
      await untilCondition(harness, 'late', 'Unknown/ClusterTopologyNotFound')

      // Admission validates topologies of new sets only.
      await harness.edit('late', set => {
        set.spec.replicas = 1
      })
      await harness.until(
        'two pods',
        () => harness.pods('late'),
        pods => pods.length === 2,
      )
      const groups = await harness.until(
        'a PodGroup',
        () => podGroups(harness, 'late'),
        all => all.length === 1,
      )
      assert.deepEqual(groups, ['late-0: worker 2'])
      for (const { metadata } of [...(await harness.gangs('late')), ...(await harness.cliques('late'))])
        assert.equal(metadata.annotations?.[annotation.topologyName], undefined, metadata.name)

      await harness.edit('late', set => {
        set.spec.replicas = 0
      })
      await harness.until(
        'no pods',
        () => harness.pods('late'),
        pods => pods.length === 0,
      )
      await bind(harness, topology, fabric)
      await untilCondition(harness, 'late', 'False/AllClusterTopologyLevelsAvailable')
      await unbind(harness, topology)
    },
  },
]
