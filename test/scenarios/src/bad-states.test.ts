// SPDX-License-Identifier: Apache-2.0

// States that nobody wants and that are met all the same. Each converges, or says precisely what blocks it and goes on
// when that is gone; none makes the operator run in circles.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { defaultConfiguration, type Service } from '@grove/api'
import { inProcessTransport } from '@grove/cluster'
import { type Client, type Clock, createClientOn, systemClock } from '@grove/kube'
import { resources, startOperator } from '@grove/operator'
import { type EmbeddedCluster, startEmbeddedCluster } from './embedded-cluster.ts'
import { type Fault, faulty } from './faulty.ts'
import { Stage } from './stage.ts'
import { untilStill } from './still.ts'
import { grouped, solo } from './stories/manifests.ts'

describe('bad states', () => {
  let embedded: EmbeddedCluster
  let client: Client
  let stage: Stage
  let fault: Fault | undefined
  let at = 0
  const requests: string[] = []

  before(async () => {
    embedded = await startEmbeddedCluster()
    client = embedded.client
  })
  after(() => embedded?.stop())
  beforeEach(async () => {
    const namespace = `bad-${at++}`
    fault = undefined
    requests.length = 0
    await embedded.newNamespace(namespace)
    const transport = faulty(inProcessTransport(embedded.cluster.handle), () => fault, requests)
    stage = new Stage({ client, operatorClient: createClientOn(transport), namespace, writes: [] })
    await stage.startOperator()
  })

  /** Lets the operator go whatever becomes of the story. */
  const told = (name: string, tell: () => Promise<void>) =>
    test(name, async () => {
      try {
        await tell()
      } finally {
        await stage.stopOperator()
      }
    })

  told(
    'a quota that refuses pods is named in lastErrors, costs few requests, and is made up for later',
    async () => {
      let made = 0
      fault = ({ method, path }) =>
        method === 'POST' && path.includes('/pods') && ++made > 5 ? 403 : undefined
      await stage.apply(grouped)
      const refused = await stage.until(
        'a clique that says what it lacks',
        () => stage.cliques('grouped'),
        cliques => cliques.some(({ status }) => status?.lastErrors?.length),
      )
      const [error] = refused.flatMap(({ status }) => status?.lastErrors ?? [])
      assert.match(error!.description, /exceeded quota: team/)
      await new Promise(resolve => setTimeout(resolve, 500))
      assert.ok(made < 100, `${made} attempts to create a pod within half a second`)
      fault = undefined
      await stage.untilReady('grouped', 10)
      await stage.until(
        'no errors left',
        () => stage.cliques('grouped'),
        cliques => cliques.every(({ status }) => !status?.lastErrors?.length),
      )
    },
  )

  for (const [what, outcome] of [
    ['conflicts', 409],
    ['internal errors', 500],
    ['time-outs', 504],
    ['lost answers', 'lost'],
  ] as const)
    told(`${what} on every third write are outlived, and no pod is made twice`, async () => {
      fault = (_, nth) => (nth % 3 === 0 ? outcome : undefined)
      await stage.apply(grouped)
      await stage.untilReady('grouped', 10)
      fault = undefined
      await stage.untilAvailable('grouped', 1)
    })

  told(
    'a Service of somebody else is left alone and named, and the set goes on when it is gone',
    async () => {
      const ref = { name: 'solo-0', namespace: stage.namespace }
      const foreign = {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: ref,
        spec: { clusterIP: 'None', ports: [{ port: 80 }] },
      } as Service
      await client.create(resources.services, foreign)
      await stage.apply(solo)
      const set = await stage.until(
        'the set to say what blocks it',
        () => stage.set('solo'),
        found => (found?.status?.lastErrors ?? []).length > 0,
      )
      assert.match(JSON.stringify(set?.status?.lastErrors), /Service \S*solo-0/)
      assert.equal((await client.get(resources.services, ref)).metadata.ownerReferences, undefined)
      await client.delete(resources.services, ref)
      await stage.untilReady('solo', 2)
    },
  )

  told('children that somebody edits or takes away come back as they were', async () => {
    await stage.apply(solo)
    await stage.untilAvailable('solo', 1)
    const ref = { name: 'solo-0-web', namespace: stage.namespace }
    await client.patch(resources.podCliques, ref, {
      merge: {
        spec: { roleName: 'other' },
        metadata: { labels: { 'app.kubernetes.io/component': 'other' } },
      },
    })
    await client.delete(resources.services, { name: 'solo-0', namespace: stage.namespace })
    await stage.until(
      'the clique as it was',
      () => client.get(resources.podCliques, ref),
      clique => clique.spec.roleName === 'web',
    )
    await stage.until(
      'the Service',
      () => stage.list(resources.services as never, 'solo'),
      found => found.length === 1,
    )
    const { metadata } = await client.get(resources.podCliques, ref)
    await client.delete(resources.podCliques, ref)
    await stage.until(
      'another clique',
      () => client.find(resources.podCliques, ref),
      clique => clique !== undefined && clique.metadata.uid !== metadata.uid,
    )
    await stage.untilReady('solo', 2)
  })

  told('what a former set of the same name left behind is not taken for ours', async () => {
    const ref = { name: 'solo-0-web', namespace: stage.namespace }
    await client.create(resources.podCliques, {
      apiVersion: 'grove.io/v1alpha1',
      kind: 'PodClique',
      metadata: {
        ...ref,
        labels: { 'app.kubernetes.io/managed-by': 'grove-operator', 'app.kubernetes.io/part-of': 'solo' },
        ownerReferences: [
          {
            apiVersion: 'grove.io/v1alpha1',
            kind: 'PodCliqueSet',
            name: 'solo',
            uid: '00000000-0000-4000-8000-000000000000',
            controller: true,
          },
        ],
      },
      spec: {
        roleName: 'old',
        replicas: 5,
        podSpec: { containers: [{ name: 'old', image: 'registry.example/o' }] },
      },
    })
    await stage.apply(solo)
    // The collector takes the orphan, and then there is room for ours.
    const pods = await stage.untilReady('solo', 2)
    assert.ok(pods.every(pod => pod.spec?.containers[0]?.name === 'main'))
  })

  for (const [what, skewMs] of [
    ['ahead of', 3_600_000],
    ['behind', -3_600_000],
  ] as const)
    told(`a clock that is an hour ${what} the cluster's changes nothing`, async () => {
      await stage.stopOperator()
      const clock: Clock = {
        now: () => systemClock.now() + skewMs,
        monotonic: () => systemClock.monotonic(),
        setTimeout: (callback, ms) => systemClock.setTimeout(callback, ms),
        sleep: (ms, signal) => systemClock.sleep(ms, signal),
      }
      const operatorClient = createClientOn(inProcessTransport(embedded.cluster.handle))
      const skewed = await startOperator(operatorClient, { configuration: defaultConfiguration(), clock })
      try {
        await stage.apply(grouped.replace('template:', 'template:\n    terminationDelay: 1s'))
        const before = await stage.untilReady('grouped', 10)
        await stage.untilAvailable('grouped', 1)
        await stage.scale(resources.podCliqueScalingGroups as never, 'grouped-0-eng', 1)
        const kept = await stage.untilReady('grouped', 6)
        for (const { metadata } of kept) assert.ok(before.some(pod => pod.metadata.uid === metadata.uid))
        await stage.edit('grouped', set => {
          set.spec.template.cliques[0]!.spec.podSpec.containers[0]!.image = 'registry.example/router:2'
        })
        await stage.until(
          'two updated routers, and whatever else there was',
          () => stage.pods('grouped'),
          pods =>
            pods.length === 6 &&
            pods.filter(pod => pod.spec?.containers[0]?.image === 'registry.example/router:2').length === 2,
        )
        await stage.untilAvailable('grouped', 1)
        await stage.deleteSet('grouped')
        await stage.until(
          'the set to be gone',
          () => stage.set('grouped'),
          set => set === undefined,
        )
      } finally {
        await skewed.stop()
      }
    })

  told('a set that is settled sends nothing', async () => {
    await stage.apply(grouped)
    await stage.untilAvailable('grouped', 1)
    await untilStill(() => requests.length, 1_500)
    requests.length = 0
    await stage.patchSet('grouped', { metadata: { annotations: { 'grove.io/reconcile-trigger': 'now' } } })
    await untilStill(() => requests.length, 1_000)
    assert.deepEqual(requests, [])
  })
})
