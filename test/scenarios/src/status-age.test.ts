// SPDX-License-Identifier: Apache-2.0

// Tests the age of statuses. The whole operator and the whole cluster share one clock that the test advances, and
// requests take no time on that clock. The measured age is therefore the sum of the operator's own delays.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultConfiguration, label, type Pod } from '@grove/api'
import { createCluster, inProcessTransport, plainNodes, startControllers } from '@grove/cluster'
import { type Client, createClientOn, FakeClock } from '@grove/kube'
import { resources, startOperator } from '@grove/operator'
import { parse } from 'yaml'
import { installCustomResources } from './custom-kinds.ts'
import { namespaces } from './embedded-cluster.ts'
import { Harness, isReady, waiterImage } from './harness.ts'

const replicas = Number(process.env.REPLICAS ?? 500)
const stepMs = 100
const oldestMs = 1_000
const namespace = 'age'
const setName = 'wide'
const podsPerNode = 110

const manifest = (tag: number) => `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: ${setName}}
spec:
  replicas: ${replicas}
  template:
    cliques:
      - name: lead
        annotations: {simulate.grove.io/start-delay: 2s}
        spec: {roleName: lead, replicas: 1, podSpec: {containers: [{name: main, image: 'registry.example/l:${tag}'}]}}
      - name: work
        annotations: {simulate.grove.io/start-delay: 3s}
        spec: {roleName: work, replicas: 1, podSpec: {containers: [{name: main, image: 'registry.example/w:${tag}'}]}}
    podCliqueScalingGroups:
      - {name: eng, cliqueNames: [work], replicas: 1, minAvailable: 1}
`

test(`no status is older than one second while ${replicas} replicas start and are updated`, async () => {
  const clock = new FakeClock()
  const cluster = createCluster({ clock, seed: 1 })
  let requests = 0
  const connect = () =>
    createClientOn(inProcessTransport(cluster.handle), { clock, onRequest: () => void requests++ })
  /** Runs all work that is ready without advancing the clock. */
  const drain = async () => {
    for (let idle = 0, seen = -1; idle < 20; idle++) {
      if (seen !== requests) [idle, seen] = [0, requests]
      await clock.flushPromises()
    }
  }
  const during = async <T>(work: Promise<T>): Promise<T> => {
    let isDone = false
    const watched = work.finally(() => {
      isDone = true
    })
    watched.catch(() => undefined)
    while (!isDone) await clock.advance(1)
    return watched
  }
  const client = connect()
  await installCustomResources(client)
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  const controllers = await during(
    startControllers(connect(), {
      clock,
      serviceAccounts: { tokenIssuer: cluster.tokens },
      run: ['scheduler', 'kubelet', 'heartbeats', 'node-lifecycle', 'garbage-collector', 'service-accounts'],
      heartbeats: { intervalMs: 3_600_000 },
      nodeLifecycle: { graceMs: 3 * 3_600_000 },
    }),
  )
  const operator = await during(
    startOperator(connect(), { configuration: defaultConfiguration(), waiterImage, clock }),
  )
  const harness = new Harness({ client, operatorClient: client, namespace, writes: [] })
  const ages = new Ages(client, clock)
  try {
    await harness.apply(manifest(1))
    // Nodes arrive over time, so pods are scheduled and start over time.
    const nodes = plainNodes(Math.ceil((2.2 * replicas) / podsPerNode))
    let ready = 0
    for (let step = 0; ready < 2 * replicas; step++) {
      assert.ok(step < 600, `${ready} of ${2 * replicas} pods are ready`)
      if (step % 5 === 0 && nodes.length) await during(controllers.fleet.add([nodes.shift()!]))
      await clock.advance(stepMs)
      await drain()
      ready = await ages.look()
    }
    const started = ages.oldest
    assert.ok(started.ms <= oldestMs, `${started.what} was ${started.ms} ms old`)
    const { spec } = parse(manifest(2)) as { spec: object }
    await harness.patchSet(setName, { spec })
    ages.changes = 0
    for (let step = 0; step < 100; step++) {
      await clock.advance(stepMs)
      await drain()
      await ages.look()
    }
    assert.ok(ages.changes > 0, 'the update had no effect')
    assert.ok(ages.oldest.ms <= oldestMs, `${ages.oldest.what} was ${ages.oldest.ms} ms old`)
  } finally {
    await during(operator.stop())
    await during(controllers.stop())
    cluster.stop()
  }
})

/** Compares stored statuses with the pods, and records since when they differ. */
class Ages {
  oldest = { what: 'nothing', ms: 0 }
  /** The number of checks at which some status differed from the pods. */
  changes = 0
  readonly #client: Client
  readonly #clock: FakeClock
  readonly #since = new Map<string, number>()

  constructor(client: Client, clock: FakeClock) {
    this.#client = client
    this.#clock = clock
  }

  /** Returns how many pods are ready. */
  async look(): Promise<number> {
    const pods = (await this.#client.list(resources.pods, { namespace })).items.filter(isActive)
    const cliques = (await this.#client.list(resources.podCliques, { namespace })).items
    const groups = (await this.#client.list(resources.podCliqueScalingGroups, { namespace })).items
    const sets = (await this.#client.list(resources.podCliqueSets, { namespace })).items
    const byClique = Map.groupBy(pods, pod => pod.metadata.labels?.[label.podClique] ?? '')
    const readyIn = (clique: string) => (byClique.get(clique) ?? []).filter(isReady).length
    const scheduledIn = (clique: string) => (byClique.get(clique) ?? []).filter(isScheduled).length
    const different: string[] = []
    const compare = (what: string, stored: unknown, actual: unknown) => {
      if (JSON.stringify(stored) !== JSON.stringify(actual)) different.push(what)
    }
    for (const { metadata, status } of cliques) {
      if (metadata.deletionTimestamp) continue
      compare(
        `PodClique ${metadata.name}`,
        [status?.readyReplicas ?? 0, status?.scheduledReplicas ?? 0],
        [readyIn(metadata.name), scheduledIn(metadata.name)],
      )
    }
    for (const { metadata, status } of groups) {
      const member = `${metadata.name}-0-work`
      compare(
        `PodCliqueScalingGroup ${metadata.name}`,
        [status?.availableReplicas ?? 0, status?.scheduledReplicas ?? 0],
        [readyIn(member), scheduledIn(member)],
      )
    }
    for (const { metadata, status } of sets) {
      const available = Array.from({ length: replicas }, (_, replica) => `${setName}-${replica}`).filter(
        replica => readyIn(`${replica}-lead`) && readyIn(`${replica}-eng-0-work`),
      )
      compare(`PodCliqueSet ${metadata.name}`, status?.availableReplicas ?? 0, available.length)
    }
    this.#note(different)
    return pods.filter(isReady).length
  }

  #note(different: readonly string[]): void {
    const now = this.#clock.monotonic()
    for (const what of this.#since.keys()) if (!different.includes(what)) this.#since.delete(what)
    for (const what of different) {
      const since = this.#since.get(what) ?? now - stepMs
      this.#since.set(what, since)
      if (now - since > this.oldest.ms) this.oldest = { what, ms: now - since }
    }
    if (different.length) this.changes++
  }
}

function isActive({ metadata, status }: Pod): boolean {
  return !metadata.deletionTimestamp && status?.phase !== 'Failed' && status?.phase !== 'Succeeded'
}

function isScheduled(pod: Pod): boolean {
  return (
    pod.status?.conditions?.some(({ type, status }) => type === 'PodScheduled' && status === 'True') ?? false
  )
}
