// SPDX-License-Identifier: Apache-2.0
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, PodSpec, Toleration } from '@grove/api'
import { defaultPolicy, plan, snapshotFrom } from '../index.ts'
import { memberPod, node, type PodOptions, pod, podGang } from '../testing/objects.ts'
import type { SnapshotObjects } from '../types.ts'
import { tolerates } from './taints.ts'

const policy = { ...defaultPolicy, fixes: false }
const scheduled = { schedulerName: 'grove-scheduler' }

/** The nodes on which a gang of one pod can run. Each node is evaluated alone. */
function candidates(
  nodes: readonly Node[],
  spec: Partial<PodSpec>,
  rest: Partial<SnapshotObjects> = {},
): string[] {
  const gang = podGang('g', [{ name: 'c', min: 1 }])
  return nodes
    .map(({ metadata }) => metadata.name)
    .filter(name => {
      const others = nodes.map(entry =>
        entry.metadata.name === name ? entry : { ...entry, status: { allocatable: { pods: '0' } } },
      )
      const member = memberPod('g', 'c', 0, { cpu: '1' }, { spec: { ...scheduled, ...spec } })
      const objects = { ...rest, nodes: others, pods: [...(rest.pods ?? []), member], podGangs: [gang] }
      return plan(snapshotFrom(objects), policy, 0).gangs[0]?.verdict === 'Scheduled'
    })
}

const cpu = { cpu: '8' }

test('required node affinity supports all operators, and its terms are alternatives', () => {
  const nodes = [
    node('a', cpu, { labels: { size: '3', tier: 'x' } }),
    node('b', cpu, { labels: { size: '7' } }),
    node('c', cpu),
  ]
  const affinity = (
    matchExpressions: { key: string; operator: string; values?: string[] }[],
    field?: string,
  ) => ({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            { matchExpressions },
            ...(field ? [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [field] }] }] : []),
          ],
        },
      },
    },
  })
  const table: [string, string[] | undefined, string[]][] = [
    ['In', ['3'], ['a']],
    ['NotIn', ['3'], ['b', 'c']],
    ['Exists', undefined, ['a', 'b']],
    ['DoesNotExist', undefined, ['c']],
    ['Gt', ['3'], ['b']],
    ['Lt', ['7'], ['a']],
    ['Unknown', ['3'], []],
  ]
  for (const [operator, values, expected] of table)
    deepEqual(
      candidates(nodes, affinity([{ key: 'size', operator, ...(values ? { values } : {}) }])),
      expected,
      operator,
    )
  deepEqual(candidates(nodes, affinity([{ key: 'size', operator: 'Gt', values: ['5'] }], 'c')), ['b', 'c'])
  deepEqual(candidates(nodes, affinity([])), [])
})

test('NoSchedule and NoExecute taints exclude nodes, PreferNoSchedule does not; a cordon is a taint', () => {
  const taint = (effect: string) => ({ taints: [{ key: 'k', value: 'v', effect }] })
  const nodes = [
    node('a', cpu, taint('NoSchedule')),
    node('b', cpu, taint('NoExecute')),
    node('c', cpu, taint('PreferNoSchedule')),
    node('d', cpu, { unschedulable: true }),
  ]
  deepEqual(candidates(nodes, {}), ['c'])
  deepEqual(candidates(nodes, { tolerations: [{ key: 'k', operator: 'Exists' }] }), ['a', 'b', 'c'])
  deepEqual(candidates(nodes, { tolerations: [{ key: 'k', value: 'v', effect: 'NoSchedule' }] }), ['a', 'c'])
  deepEqual(
    candidates(nodes, { tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }] }),
    ['c', 'd'],
  )
  deepEqual(candidates(nodes, { tolerations: [{ operator: 'Exists' }] }), ['a', 'b', 'c', 'd'])
})

test('a toleration matches by key, value and effect', () => {
  const taint = { key: 'k', value: '5', effect: 'NoSchedule' }
  const table: [Toleration, boolean][] = [
    [{ key: 'k', value: '5' }, true],
    [{ key: 'k', value: '6' }, false],
    [{ key: 'k' }, false],
    [{ operator: 'Equal', value: '5' }, false],
    [{ key: 'other', operator: 'Exists' }, false],
    [{ key: 'k', operator: 'Exists', effect: 'NoExecute' }, false],
    [{ key: 'k', operator: 'Gt', value: '4' }, true],
    [{ key: 'k', operator: 'Lt', value: '4' }, false],
  ]
  for (const [toleration, expected] of table)
    equal(tolerates([toleration], taint), expected, JSON.stringify(toleration))
})

test('host ports conflict by port and protocol, and by address unless one of them is the wildcard address', () => {
  const port = (hostPort: number, protocol?: string, hostIP?: string): Partial<PodSpec> => ({
    containers: [
      {
        name: 'main',
        ports: [
          { containerPort: 1, hostPort, ...(protocol ? { protocol } : {}), ...(hostIP ? { hostIP } : {}) },
        ],
      },
    ],
  })
  const used = (spec: Partial<PodSpec>) => ({ pods: [pod('x', {}, { node: 'a', spec })] })
  const nodes = [node('a', cpu)]
  deepEqual(candidates(nodes, port(80), used(port(80))), [])
  deepEqual(candidates(nodes, port(80), used(port(81))), ['a'])
  deepEqual(candidates(nodes, port(80), used(port(80, 'UDP'))), ['a'])
  deepEqual(candidates(nodes, port(80, 'TCP', '10.0.0.1'), used(port(80, 'TCP', '10.0.0.2'))), ['a'])
  deepEqual(candidates(nodes, port(80, 'TCP', '10.0.0.1'), used(port(80))), [])
  const host: Partial<PodSpec> = {
    hostNetwork: true,
    containers: [{ name: 'main', ports: [{ containerPort: 80 }] }],
  }
  deepEqual(candidates(nodes, host, used(port(80))), [])
})

test('pod affinity and anti-affinity towards bound pods', () => {
  const zone = (name: string) => ({ labels: { zone: name } })
  const nodes = [
    node('a', cpu, zone('1')),
    node('b', cpu, zone('1')),
    node('c', cpu, zone('2')),
    node('d', cpu),
  ]
  const term = { topologyKey: 'zone', labelSelector: { matchLabels: { app: 'db' } } }
  const required = { requiredDuringSchedulingIgnoredDuringExecution: [term] }
  const bound = (options: PodOptions) => ({ pods: [pod('x', {}, { node: 'a', ...options })] })
  const db = bound({ labels: { app: 'db' } })
  deepEqual(candidates(nodes, { affinity: { podAffinity: required } }, db), ['a', 'b'])
  deepEqual(candidates(nodes, { affinity: { podAntiAffinity: required } }, db), ['c', 'd'])
  // The anti-affinity of a bound pod applies to the pod of the gang too.
  const repelling = { ...term, labelSelector: { matchLabels: { 'grove.io/podclique': 'c' } } }
  const spec = {
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [repelling] } },
  }
  deepEqual(candidates(nodes, {}, bound({ spec })), ['c', 'd'])
  // Another namespace counts only if the term selects it.
  const elsewhere = {
    pods: db.pods.map(entry => ({ ...entry, metadata: { ...entry.metadata, namespace: 'other' } })),
  }
  deepEqual(candidates(nodes, { affinity: { podAntiAffinity: required } }, elsewhere), ['a', 'b', 'c', 'd'])
  const everywhere = { requiredDuringSchedulingIgnoredDuringExecution: [{ ...term, namespaceSelector: {} }] }
  deepEqual(candidates(nodes, { affinity: { podAntiAffinity: everywhere } }, elsewhere), ['c', 'd'])
})

test('a pod field that the planner does not support keeps the gang waiting', () => {
  const objects = {
    nodes: [node('a', cpu)],
    pods: [
      memberPod(
        'g',
        'c',
        0,
        { cpu: '1' },
        { spec: { ...scheduled, schedulingGroup: { podGroupName: 'x' } } },
      ),
    ],
    podGangs: [podGang('g', [{ name: 'c', min: 1 }])],
  }
  const [gang] = plan(snapshotFrom(objects), policy, 0).gangs
  equal(gang?.explanation?.message, 'not supported by grove-scheduler: spec.schedulingGroup of PodClique c')
  equal(gang?.verdict, 'Unschedulable')
})

test('preferences that Kubernetes does not enforce restrict nothing', () => {
  const spread = { topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway', labelSelector: {} }
  deepEqual(candidates([node('a', cpu)], { topologySpreadConstraints: [spread] }), ['a'])
})

test('a bound volume confines the pod to the nodes of its PersistentVolume', () => {
  const nodes = [node('a', cpu, { labels: { disk: 'x' } }), node('b', cpu)]
  const spec = { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] }
  const terms = [{ matchExpressions: [{ key: 'disk', operator: 'In', values: ['x'] }] }]
  const claim = (volumeName?: string) => ({
    metadata: { name: 'data', namespace: 'default' },
    spec: { storageClassName: 'fast', ...(volumeName ? { volumeName } : {}) },
  })
  const storage = {
    persistentVolumes: [
      { metadata: { name: 'pv' }, spec: { nodeAffinity: { required: { nodeSelectorTerms: terms } } } },
    ],
    storageClasses: [{ metadata: { name: 'fast' }, volumeBindingMode: 'Immediate' }],
  }
  deepEqual(candidates(nodes, spec, { ...storage, persistentVolumeClaims: [claim('pv')] }), ['a'])
  // An unbound claim of an Immediate class excludes every node.
  deepEqual(candidates(nodes, spec, { ...storage, persistentVolumeClaims: [claim()] }), [])
})

test('a generic ephemeral volume follows the allowed topologies of its class', () => {
  const nodes = [node('a', cpu, { labels: { zone: '1' } }), node('b', cpu, { labels: { zone: '2' } })]
  const template = { spec: { storageClassName: 'fast' } }
  const spec = { volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: template } }] }
  const storageClasses = [
    {
      metadata: { name: 'fast' },
      volumeBindingMode: 'WaitForFirstConsumer',
      allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: ['2'] }] }],
    },
  ]
  deepEqual(candidates(nodes, spec, { storageClasses }), ['b'])
})

test('the volume of an ephemeral claim is provisioned for the node of the pod, unless another node is selected', () => {
  const nodes = [node('a', cpu), node('b', cpu)]
  const storageClasses = [{ metadata: { name: 'fast' }, volumeBindingMode: 'WaitForFirstConsumer' }]
  const template = { spec: { storageClassName: 'fast' } }
  const spec = { volumes: [{ name: 'v', ephemeral: { volumeClaimTemplate: template } }] }
  const claim = (annotations: Record<string, string>, volumeName?: string) => ({
    metadata: { name: 'c-0-v', namespace: 'default', annotations },
    spec: { storageClassName: 'fast', ...(volumeName ? { volumeName } : {}) },
  })
  const selected = claim({ 'volume.kubernetes.io/selected-node': 'b' })
  deepEqual(candidates(nodes, spec, { storageClasses, persistentVolumeClaims: [claim({})] }), ['a', 'b'])
  deepEqual(candidates(nodes, spec, { storageClasses, persistentVolumeClaims: [selected] }), ['b'])
  const bindingOf = (rest: Partial<SnapshotObjects>) => {
    const pods = [memberPod('g', 'c', 0, {}, { spec: { ...scheduled, ...spec } })]
    const objects = {
      storageClasses,
      ...rest,
      nodes,
      pods,
      podGangs: [podGang('g', [{ name: 'c', min: 1 }])],
    }
    return plan(snapshotFrom(objects), policy, 0).bindings[0]?.volumeClaims
  }
  deepEqual(bindingOf({}), ['c-0-v'])
  const persistentVolumes = [{ metadata: { name: 'pv' } }]
  deepEqual(bindingOf({ persistentVolumes, persistentVolumeClaims: [claim({}, 'pv')] }), undefined)
})
