// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod, PodClique } from '@grove/api'
import { countedWaits, sentenceOf, whyNotReady } from './pod-waits.ts'

const scheduled = { type: 'PodScheduled', status: 'True' }
const ready = { type: 'Ready', status: 'True' }

function pod(parts: { metadata?: object; spec?: object; status?: object }): Pod {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', ...parts.metadata }, ...parts } as Pod
}

const leader = {
  metadata: { name: 'llm-0-leader' },
  spec: { replicas: 2 },
  status: { readyReplicas: 1 },
} as PodClique
const cliques = new Map([['llm-0-leader', leader]])
const gate = 'grove.io/podgang-pending-creation'

function started(containers: object[], initContainers: object[] = [], spec: object = {}): Pod {
  const status = {
    phase: 'Pending',
    conditions: [scheduled],
    containerStatuses: containers,
    initContainerStatuses: initContainers,
  }
  return pod({ spec, status })
}

const waitingFor = (reason: string, message?: string) => ({
  name: 'main',
  image: 'registry.example/app:1',
  state: { waiting: { reason, message } },
})
const waits = (...args: string[]) => ({ initContainers: [{ name: 'grove-initc', args }] })
const running = (name: string) => ({ name, state: { running: {} } })

const table: [what: string, pod: Pod, why: string | undefined][] = [
  ['a ready one', pod({ status: { conditions: [scheduled, ready] } }), undefined],
  [
    'a terminating pod',
    pod({ metadata: { deletionTimestamp: 'now' }, status: { conditions: [ready] } }),
    'terminating',
  ],
  [
    'a pod of an incomplete gang',
    pod({ spec: { schedulingGates: [{ name: gate }] } }),
    'gated until the gang is complete',
  ],
  [
    'a pod of a scaled gang',
    pod({
      metadata: { labels: { 'grove.io/base-podgang': 'llm-0' } },
      spec: { schedulingGates: [{ name: gate }] },
    }),
    'gated until base gang llm-0 is ready',
  ],
  [
    'a pod with a gate of another controller',
    pod({ spec: { schedulingGates: [{ name: gate }, { name: 'quota.example/wait' }] } }),
    'gated by quota.example/wait',
  ],
  ['a pod that the scheduler has not evaluated', pod({}), 'not scheduled yet'],
  [
    'a pod without a node',
    pod({
      status: {
        conditions: [
          {
            type: 'PodScheduled',
            status: 'False',
            reason: 'Unschedulable',
            message:
              '0/2 nodes are available: 2 Insufficient nvidia.com/gpu. preemption: 0/2 nodes are available.',
          },
        ],
      },
    }),
    'unschedulable: 0/2 nodes are available: 2 Insufficient nvidia.com/gpu',
  ],
  ['one that starts', started([waitingFor('ContainerCreating')]), 'starting'],
  [
    'a pod whose image is missing',
    started([waitingFor('ImagePullBackOff')]),
    'ImagePullBackOff: image registry.example/app:1',
  ],
  ['one that crashes', started([waitingFor('CrashLoopBackOff')]), 'container main crashes repeatedly'],
  [
    'a pod whose secret is missing',
    started([waitingFor('CreateContainerConfigError', 'secret "s" not found')]),
    'container main: CreateContainerConfigError: secret "s" not found',
  ],
  [
    'a pod whose container failed',
    started([{ name: 'main', state: { terminated: { exitCode: 3 } } }]),
    'container main ended with exit code 3',
  ],
  [
    'a pod with startup dependencies',
    started(
      [waitingFor('PodInitializing')],
      [running('grove-initc')],
      waits('--podcliques=llm-0-leader:2', '--podcliques=llm-0-gone:1'),
    ),
    'waits for llm-0-leader (1/2 ready), llm-0-gone (0/1 ready) to be ready',
  ],
  [
    'a pod whose parents are ready',
    started([], [running('grove-initc')], waits('--podcliques=llm-0-leader:1')),
    'starting',
  ],
  [
    'a pod that runs an init container',
    started([], [running('download')], { initContainers: [{ name: 'download' }] }),
    'running init container download',
  ],
  [
    'a failed pod',
    pod({
      status: { phase: 'Failed', reason: 'Evicted', message: 'out of memory. more', conditions: [scheduled] },
    }),
    'failed: Evicted: out of memory',
  ],
  [
    'a running pod that is not ready',
    pod({ status: { phase: 'Running', conditions: [scheduled] } }),
    'running, but not ready',
  ],
]

for (const [what, given, why] of table)
  test(`${what} is not ready`, () => {
    const wait = whyNotReady(given, cliques)
    assert.equal(wait && sentenceOf(wait), why)
    if (wait) assert.match(wait.reason, /^[A-Z][A-Za-z]+$/)
  })

test('pods with the same reason are counted, the most frequent first', () => {
  const starting = started([waitingFor('ContainerCreating')])
  assert.deepEqual(
    countedWaits([pod({}), starting, starting, pod({ status: { conditions: [ready] } })], cliques),
    [
      { pods: 2, reason: 'Starting', short: 'starting', text: 'starting' },
      { pods: 1, reason: 'NotScheduled', short: 'not scheduled yet', text: 'not scheduled yet' },
    ],
  )
})
