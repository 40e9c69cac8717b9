// SPDX-License-Identifier: Apache-2.0

// Updates under an operator whose every request may fail, whose watches are late, and which dies and comes back: one
// replica of a group at a time all the same, nothing that is up to date restarts, and the last edit is what runs.
// DISTURBANCES=100 for more; SEED repeats a failure.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { label, type Pod } from '@grove/api'
import { inProcessTransport } from '@grove/cluster'
import { type Client, createClientOn, type Stored, type Transport, type TransportRequest } from '@grove/kube'
import { type EmbeddedCluster, startEmbeddedCluster } from './embedded-cluster.ts'
import { seeded } from './seeded.ts'
import { isReady, Stage } from './stage.ts'
import { grouped } from './stories/manifests.ts'
import { editCliques, imageOf, uids, untilUpdated, withImage } from './stories/updates.ts'

const rounds = Number(process.env.DISTURBANCES ?? 6)
const seed = Number(process.env.SEED ?? Date.now() % 100_000)

const refusals = [
  { status: 409, reason: 'Conflict' },
  { status: 500, reason: 'InternalError' },
  { status: 503, reason: 'ServiceUnavailable' },
]

/** A way to the cluster on which one write in so many is refused, or carried out and then refused; watches are late. */
function rough(inner: Transport, oneIn: number, lateMs: number, below: (limit: number) => number): Transport {
  const refuse = () => {
    const { status, reason } = refusals[below(refusals.length)]!
    const body = {
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      code: status,
      reason,
      message: 'rough',
    }
    return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  }
  return {
    async request(request: TransportRequest) {
      const fails = request.method !== 'GET' && below(oneIn) === 0
      if (fails && below(2) === 0) return refuse()
      const answer = await inner.request(request)
      return fails ? refuse() : answer
    },
    async stream(request) {
      const stream = await inner.stream(request)
      return { ...stream, body: late(stream.body, () => below(lateMs + 1)) }
    },
    close: () => inner.close(),
  }
}

async function* late(body: AsyncIterable<Uint8Array>, wait: () => number): AsyncIterable<Uint8Array> {
  for await (const chunk of body) {
    await new Promise(resolve => setTimeout(resolve, wait()))
    yield chunk
  }
}

describe(`updates under ${rounds} disturbances (SEED=${seed})`, () => {
  let embedded: EmbeddedCluster
  let client: Client
  const below = seeded(seed)

  before(async () => {
    embedded = await startEmbeddedCluster()
    client = embedded.client
  })
  after(() => embedded?.stop())

  for (let round = 0; round < rounds; round++)
    test(`round ${round}`, async () => {
      const namespace = `rough-${round}`
      await embedded.newNamespace(namespace)
      const begin = (oneIn: number, lateMs: number) =>
        new Stage({
          client,
          operatorClient: createClientOn(
            rough(inProcessTransport(embedded.cluster.handle), oneIn, lateMs, below),
          ),
          namespace,
          writes: [],
        })
      let stage = begin(1_000_000, 0)
      await stage.startOperator()
      await stage.apply(grouped)
      const first = await stage.untilReady('grouped', 10)
      await stage.untilAvailable('grouped', 1)
      await stage.stopOperator()

      const watching = watchAvailability(stage)
      try {
        const edits = 1 + below(3)
        for (let edit = 1; edit <= edits; edit++) {
          stage = begin(4 + below(12), below(3) * 40)
          await stage.startOperator()
          await editCliques(stage, 'grouped', withImage('work', `registry.example/engine:e${edit}`))
          // Somewhere on the way the operator dies; its successor finds what it left.
          await new Promise(resolve => setTimeout(resolve, below(400)))
          await stage.abandonOperator()
        }
        stage = begin(20, 20)
        await stage.startOperator()
        await untilUpdated(stage, 'grouped')
        const last = await stage.untilReady('grouped', 10)
        assert.equal(last.filter(pod => imageOf(pod) === `registry.example/engine:e${edits}`).length, 6)
        const routers = (pods: readonly Stored<Pod>[]) =>
          uids(pods.filter(pod => imageOf(pod)?.includes('router')))
        assert.deepEqual(routers(last), routers(first), 'what did not change was not restarted')
      } finally {
        await stage.stopOperator()
        await watching.stop()
      }
      assert.ok(watching.fewest >= 1, `${watching.fewest} of 2 group replicas served at the worst moment`)
    })
})

/** Looks all the time at how many replicas of the scaling group serve. */
function watchAvailability(stage: Stage) {
  const watched = { fewest: Number.POSITIVE_INFINITY, stop: async () => {} }
  let stopped = false
  const looking = (async () => {
    while (!stopped) {
      const pods = (await stage.pods('grouped')).filter(
        pod => !pod.metadata.deletionTimestamp && isReady(pod),
      )
      const ready = (clique: string) =>
        pods.filter(pod => pod.metadata.labels?.[label.podClique] === clique).length
      const serving = [0, 1].filter(
        replica => ready(`grouped-0-eng-${replica}-lead`) >= 1 && ready(`grouped-0-eng-${replica}-work`) >= 2,
      )
      watched.fewest = Math.min(watched.fewest, serving.length)
      await new Promise(resolve => setTimeout(resolve, 5))
    }
  })()
  watched.stop = () => {
    stopped = true
    return looking
  }
  return watched
}
