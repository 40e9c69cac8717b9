// SPDX-License-Identifier: Apache-2.0

// Tests late caches: they show writes of the operator at once, and writes of other clients when their events arrive.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '@grove/kube'
import { resources } from '../../caches/resources.ts'
import { SimulatedApi } from './api.ts'
import { Random } from './random.ts'
import { surgeRun } from './surge-run.ts'
import { terminationRun } from './termination-run.ts'
import { updateRun } from './update-run.ts'

const service = (name: string) => ({ metadata: { name, namespace: 'serving' }, spec: {} })

function harness() {
  const api = new SimulatedApi(new FakeClock(), { isLate: true })
  const { client, services } = api.caches
  const changes: string[] = []
  services.onChange(change => void changes.push(`${change.type} ${(change.new ?? change.old).metadata.name}`))
  const names = () => services.list('serving').map(({ metadata }) => metadata.name)
  return { api, client, services, changes, names }
}

test('an object of another client is in the cache when its event arrives', () => {
  const { api, changes, names } = harness()
  api.put(resources.services, service('a') as never)
  assert.deepEqual([names(), changes], [[], []])
  api.arriveAll()
  assert.deepEqual([names(), changes], [['a'], ['add a']])
})

test('own writes are in the cache at once, and their events change nothing', async () => {
  const { api, client, changes, names, services } = harness()
  const created = await client.create(resources.services, service('a') as never)
  assert.deepEqual(names(), ['a'])
  await client.patch(
    resources.services,
    { namespace: 'serving', name: 'a' },
    { merge: { metadata: { uid: created.metadata.uid, labels: { own: 'yes' } } } },
  )
  assert.equal(services.get({ namespace: 'serving', name: 'a' })?.metadata.labels?.own, 'yes')
  api.arriveAll()
  assert.deepEqual(changes, ['add a', 'update a'])
})

test('earlier events do not restore an object that the operator deleted', async () => {
  const { api, client, names } = harness()
  const stored = api.put(resources.services, service('a') as never)
  api.arriveAll()
  api.modify(resources.services, 'a', { metadata: { labels: { edited: 'yes' } } })
  const preconditions = { uid: stored.metadata.uid }
  await client.delete(resources.services, { namespace: 'serving', name: 'a' }, { preconditions })
  assert.deepEqual(names(), [])
  api.arriveAll()
  assert.deepEqual(names(), [])
})

test('each kind has its own lag, and never more than thirty events', () => {
  const { api, names } = harness()
  const random = new Random(1)
  const behind: number[] = []
  for (let count = 1; count <= 1_000; count++) {
    api.put(resources.services, service(`s${count}`) as never)
    api.arriveSome(random)
    behind.push(count - names().length)
  }
  assert.ok(Math.max(...behind) <= 30)
  assert.ok(behind.filter(events => events > 5).length > 20, 'the cache is far behind at times')
  assert.ok(new Set(behind).size > 10, 'the lag varies')
})

const runs = Number(process.env.RUNS ?? 4)
const seed = Number(process.env.SEED ?? 1)

test(`${runs} runs of updates, surges and terminations with stale caches (SEED=${seed})`, async () => {
  for (let run = 0; run < runs; run++) {
    await updateRun(seed + run, { isLate: true })
    await surgeRun(seed + run, { isLate: true })
    await terminationRun(seed + run, { isLate: true })
  }
})
