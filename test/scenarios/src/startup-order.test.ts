// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { inProcessTransport } from '@grove/cluster'
import type { Transport, TransportRequest } from '@grove/kube'
import { resources } from '@grove/operator'
import { runWaiter } from '@grove/waiter'
import { type EmbeddedCluster, startEmbeddedCluster } from './embedded-cluster.ts'
import { Harness } from './harness.ts'
import { ReadinessRecord } from './scenarios/startup-order.ts'

const children = 200
/** The number of waiters that the test kills while they wait. */
const killed = 20

const hold = 'example.com/hold'

const requests = { list: 0, watch: 0 }
/** The number of runs that had to wait. */
let waiting = 0
const runsOf = new Map<string, number>()
let embedded: EmbeddedCluster

function counted(transport: Transport): Transport {
  const count = ({ path }: TransportRequest) => {
    requests[path.includes('watch=') ? 'watch' : 'list']++
  }
  return {
    request: request => {
      count(request)
      return transport.request(request)
    },
    stream: request => {
      count(request)
      return transport.stream(request)
    },
    close: () => transport.close(),
  }
}

/** Runs the waiter of a pod once. The first runs of some pods are killed as soon as they wait. */
async function run(pod: string, args: readonly string[], namespace: string, signal: AbortSignal) {
  const times = (runsOf.get(pod) ?? 0) + 1
  runsOf.set(pod, times)
  const isDoomed = times === 1 && runsOf.size <= killed
  const kill = new AbortController()
  const exitCode = await runWaiter({
    args,
    namespace,
    transport: counted(inProcessTransport(embedded.cluster.handle)),
    signal: AbortSignal.any([signal, kill.signal]),
    log: line => {
      if (!line.startsWith('waiting for')) return
      waiting++
      if (isDoomed) kill.abort()
    },
  })
  return { exitCode }
}

before(async () => {
  embedded = await startEmbeddedCluster({
    nodes: 10,
    controllers: () => ({
      kubelet: {
        runInitContainer: ({ metadata }, { args = [] }, { signal }) =>
          run(metadata.name, args, metadata.namespace ?? '', signal),
      },
    }),
  })
})
after(() => embedded?.stop())

test('200 concurrent waiters, some of them killed, send one list and one watch per run, and none ends too early', async () => {
  const namespace = await embedded.newNamespace('many')
  const { client } = embedded
  const harness = new Harness({ client, operatorClient: embedded.connect([]), namespace, writes: [] })
  await harness.startOperator()
  try {
    await using record = new ReadinessRecord(harness, { 'w-0-child': ['w-0-parent:1'] })
    await harness.apply(`
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: w}
spec:
  replicas: 1
  template:
    cliqueStartupType: CliqueStartupTypeInOrder
    cliques:
      - name: parent
        spec:
          roleName: parent
          replicas: 1
          podSpec: {schedulingGates: [{name: ${hold}}], containers: [{name: main, image: 'registry.example/a:1'}]}
      - name: child
        spec: {roleName: child, replicas: ${children}, podSpec: {containers: [{name: main, image: 'registry.example/b:1'}]}}
`)
    await harness.until(
      'every waiter to wait, after some were killed',
      async () => waiting,
      seen => seen === children + killed,
    )
    const parent = (await harness.pods('w')).find(pod => pod.spec?.hostname === 'w-0-parent-0')!
    await harness.client.patch(
      resources.pods,
      { name: parent.metadata.name, namespace },
      { strategic: { spec: { schedulingGates: [{ name: hold, $patch: 'delete' }] } } },
    )
    await harness.untilReady('w', children + 1)
    assert.deepEqual(record.violations, [])
  } finally {
    await harness.stopOperator()
  }
  const runs = [...runsOf.values()].reduce((sum, times) => sum + times, 0)
  assert.equal(runs, children + killed)
  assert.deepEqual(requests, { list: runs, watch: runs })
})
