// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { inProcessTransport } from '@grove/cluster'
import type { Transport, TransportRequest } from '@grove/kube'
import { resources } from '@grove/operator'
import { runWaiter } from '@grove/waiter'
import { type EmbeddedCluster, startEmbeddedCluster } from './embedded-cluster.ts'
import { Stage } from './stage.ts'
import { ReadinessRecord } from './stories/startup-order.ts'

const children = 200
/** Of their waiters so many are killed while they wait. */
const killed = 20

const hold = 'example.com/hold'

const requests = { list: 0, watch: 0 }
/** Runs that had to wait. */
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

/** One run of a pod's waiter. The first runs of some are killed as soon as they wait. */
async function run(pod: string, words: readonly string[], namespace: string, signal: AbortSignal) {
  const times = (runsOf.get(pod) ?? 0) + 1
  runsOf.set(pod, times)
  const isDoomed = times === 1 && runsOf.size <= killed
  const kill = new AbortController()
  const exitCode = await runWaiter({
    args: words,
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

test('200 waiters at once, some of them killed: one list and one watch for each run, and none ends too early', async () => {
  const namespace = await embedded.newNamespace('many')
  const { client } = embedded
  const stage = new Stage({ client, operatorClient: embedded.connect([]), namespace, writes: [] })
  await stage.startOperator()
  try {
    await using record = new ReadinessRecord(stage, { 'w-0-child': ['w-0-parent:1'] })
    await stage.apply(`
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
    await stage.until(
      'every waiter to wait, after some were killed',
      async () => waiting,
      seen => seen === children + killed,
    )
    const parent = (await stage.pods('w')).find(pod => pod.spec?.hostname === 'w-0-parent-0')!
    await stage.client.patch(
      resources.pods,
      { name: parent.metadata.name, namespace },
      { strategic: { spec: { schedulingGates: [{ name: hold, $patch: 'delete' }] } } },
    )
    await stage.untilReady('w', children + 1)
    assert.deepEqual(record.violations, [])
  } finally {
    await stage.stopOperator()
  }
  const runs = [...runsOf.values()].reduce((sum, times) => sum + times, 0)
  assert.equal(runs, children + killed)
  assert.deepEqual(requests, { list: runs, watch: runs })
})
