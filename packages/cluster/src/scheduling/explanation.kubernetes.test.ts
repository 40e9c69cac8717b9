// SPDX-License-Identifier: Apache-2.0

// Compares with kube-scheduler: for the same nodes and pods both messages must be equal.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Client, createClient, loadKubeconfig, type Stored } from '@grove/kube'
import { type Kubernetes, startKubernetes, waitFor } from '@grove/test-kubernetes'
import { nodes, type Pod, pods } from '../controllers/kinds.ts'
import { podOf } from '../controllers/testing/test-cluster.ts'
import { ClusterState } from './cluster-state.ts'
import { explainRejections } from './explanation.ts'
import { podInfo } from './pod-info.ts'
import { planPreemption } from './preemption.ts'
import { selectNode } from './select-node.ts'

let kubernetes: Kubernetes
let client: Client
let namespace: string

before(async () => {
  const capacity = { cpu: '2', memory: '4Gi', pods: '3' }
  kubernetes = await startKubernetes({
    nodes: [
      { name: 'a', capacity, labels: { disk: 'fast' } },
      { name: 'b', capacity, labels: { disk: 'slow' } },
      { name: 'c', capacity, taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }] },
      { name: 'd', capacity: { ...capacity, cpu: '1' } },
    ],
  })
  client = createClient(loadKubeconfig({ path: kubernetes.kubeconfig }))
  namespace = await kubernetes.newNamespace()
})

after(async () => {
  await client?.close()
  await kubernetes?.stop()
})

const required = 'requiredDuringSchedulingIgnoredDuringExecution'
const self = [{ topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'web' } } }]
const spread = {
  maxSkew: 1,
  whenUnsatisfiable: 'DoNotSchedule',
  labelSelector: { matchLabels: { app: 'web' } },
}
const base = podOf('x').spec!

const sized = (name: string, limits: Record<string, string>): Pod =>
  podOf(name, { spec: { ...base, containers: [{ name: 'main', image: 'i', resources: { limits } }] } })

/** Scheduled first, so that the nodes are in use. */
const scheduled: readonly Pod[] = [
  podOf('on-a', { labels: { app: 'web' }, requests: { cpu: '1500m' } }),
  podOf('on-b', {
    spec: {
      ...base,
      containers: [
        {
          name: 'main',
          image: 'i',
          ports: [{ containerPort: 80, hostPort: 80 }],
          resources: { requests: { cpu: '1' } },
        },
      ],
      affinity: { podAntiAffinity: { [required]: self } },
    },
  }),
]

const waiting: readonly Pod[] = [
  sized('too-big', { cpu: '64', memory: '1Ti', 'nvidia.com/gpu': '1' }),
  sized('tight', { cpu: '1999m' }),
  podOf('picky', { spec: { ...base, nodeSelector: { disk: 'tape' } } }),
  podOf('lonely', {
    spec: { ...base, affinity: { podAffinity: { [required]: self } }, nodeSelector: { disk: 'slow' } },
  }),
  podOf('shy', {
    labels: { app: 'web' },
    spec: { ...base, nodeSelector: { disk: 'fast' }, affinity: { podAntiAffinity: { [required]: self } } },
  }),
  podOf('unwanted', { labels: { app: 'web' }, spec: { ...base, nodeSelector: { disk: 'slow' } } }),
  podOf('ported', {
    spec: {
      ...base,
      nodeSelector: { disk: 'slow' },
      containers: [{ name: 'main', image: 'i', ports: [{ containerPort: 80, hostPort: 80 }] }],
    },
  }),
  podOf('spread', {
    labels: { app: 'web' },
    spec: {
      ...base,
      nodeSelector: { disk: 'fast' },
      topologySpreadConstraints: [
        { ...spread, topologyKey: 'kubernetes.io/hostname', nodeAffinityPolicy: 'Ignore' },
      ],
    },
  }),
  podOf('unlabelled', {
    spec: { ...base, topologySpreadConstraints: [{ ...spread, topologyKey: 'example.com/nowhere' }] },
  }),
]

async function create(pod: Pod): Promise<Stored<Pod>> {
  return client.create(pods, { ...pod, metadata: { ...pod.metadata, namespace } })
}

async function realMessage(name: string): Promise<string> {
  let message = ''
  await waitFor(`${name} to be rejected`, async () => {
    const { status } = await client.get(pods, { namespace, name })
    message =
      status?.conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'False')
        ?.message ?? ''
    return message !== ''
  })
  return message
}

async function ourMessage(pod: Stored<Pod>): Promise<string> {
  const state = new ClusterState()
  for (const node of (await client.list(nodes)).items) state.setNode(node)
  for (const other of (await client.list(pods)).items)
    if (other.spec?.nodeName) state.setPod(podInfo(other), other.spec.nodeName)
  const placement = selectNode(podInfo(pod), state, { random: () => 0 })
  if (placement.ok) return `fits on ${placement.node.name}`
  const plan = planPreemption(podInfo(pod), state, placement.rejections)
  const message = explainRejections(placement.rejections.size, placement.rejections.values())
  return plan.ok ? message : `${message} preemption: ${plan.message}`
}

describe('the message of an unschedulable pod', () => {
  before(async () => {
    for (const pod of scheduled) {
      const nodeSelector = { disk: pod.metadata?.name === 'on-a' ? 'fast' : 'slow' }
      await create({ ...pod, spec: { ...pod.spec, nodeSelector } })
      await waitFor('it to be scheduled', async () =>
        Boolean((await client.get(pods, { namespace, name: pod.metadata?.name ?? '' })).spec?.nodeName),
      )
    }
  })

  for (const pod of waiting)
    it(`${pod.metadata?.name}`, async () => {
      const created = await create(pod)
      assert.equal(await ourMessage(created), await realMessage(created.metadata.name))
    })
})
