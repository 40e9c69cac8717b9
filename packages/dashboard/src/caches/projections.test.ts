// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@grove/api'
import { whyNotReady } from '@grove/inspect'
import { isDevice, projectPod } from './projections.ts'

const member = { name: 'p', namespace: 'n', labels: { 'grove.io/podclique': 'c' } }
const scheduled = { type: 'PodScheduled', status: 'True' }

/** Pods with one status each. Their reason must be the same before and after the projection. */
const pods: readonly [string, object][] = [
  ['ready', { status: { phase: 'Running', conditions: [scheduled, { type: 'Ready', status: 'True' }] } }],
  ['gated', { spec: { containers: [], schedulingGates: [{ name: 'grove.io/podgang-pending-creation' }] } }],
  [
    'unschedulable',
    {
      status: {
        conditions: [
          {
            type: 'PodScheduled',
            status: 'False',
            reason: 'Unschedulable',
            message: '0/3 nodes. More text.',
          },
        ],
      },
    },
  ],
  [
    'failed',
    { status: { phase: 'Failed', reason: 'Evicted', message: 'no memory', conditions: [scheduled] } },
  ],
  [
    'waiting for cliques',
    {
      spec: {
        containers: [],
        initContainers: [{ name: 'grove-initc', args: ['--podcliques=a:2'] }],
      },
      status: {
        conditions: [scheduled],
        initContainerStatuses: [{ name: 'grove-initc', state: { running: {} } }],
      },
    },
  ],
  [
    'image',
    {
      status: {
        conditions: [scheduled],
        containerStatuses: [
          { name: 'c', image: 'registry.example/x', state: { waiting: { reason: 'ImagePullBackOff' } } },
        ],
      },
    },
  ],
  [
    'sidecar',
    {
      spec: { containers: [], initContainers: [{ name: 's', restartPolicy: 'Always' }, { name: 'i' }] },
      status: {
        conditions: [scheduled],
        initContainerStatuses: [
          { name: 's', started: true, state: { running: {} } },
          { name: 'i', state: { running: {} } },
        ],
      },
    },
  ],
  [
    'exited',
    {
      status: {
        conditions: [scheduled],
        containerStatuses: [{ name: 'c', state: { terminated: { exitCode: 3 } } }],
      },
    },
  ],
  ['terminating', { metadata: { ...member, deletionTimestamp: '2030-01-01T00:00:00Z' } }],
]

for (const [name, parts] of pods)
  test(`the projection of a pod keeps the reason why it is not ready: ${name}`, () => {
    const pod = { metadata: member, spec: { containers: [] }, ...parts } as unknown as Pod
    assert.deepEqual(whyNotReady(projectPod(pod as never), new Map()), whyNotReady(pod, new Map()))
    if (name !== 'ready') assert.notEqual(whyNotReady(pod, new Map()), undefined)
  })

test('the projection of a pod drops specs, annotations, and the labels of pods that belong to no set', () => {
  const pod = {
    metadata: { ...member, annotations: { secret: 'x' }, labels: { ...member.labels, team: 'x' } },
    spec: { containers: [{ name: 'c', env: [{ name: 'TOKEN', value: 'secret' }] }] },
  }
  const text = JSON.stringify(projectPod(pod as never))
  assert.doesNotMatch(text, /secret|TOKEN|team/)
  const other = { metadata: { name: 'o', namespace: 'n', labels: { app: 'web' } }, spec: { nodeName: 'a' } }
  assert.deepEqual(projectPod(other as never).metadata.labels, {})
})

test('devices are extended resources', () => {
  assert.deepEqual(
    [
      'nvidia.com/gpu',
      'amd.com/gpu',
      'cpu',
      'hugepages-2Mi',
      'kubernetes.io/batch',
      'x.kubernetes.io/y',
    ].filter(isDevice),
    ['nvidia.com/gpu', 'amd.com/gpu'],
  )
})
