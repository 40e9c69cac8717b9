// SPDX-License-Identifier: Apache-2.0

// A cluster that does not fill the token Secrets of service accounts: only pods that need the token wait.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { names } from '@grove/api'
import { inProcessTransport } from '@grove/cluster'
import { createClientOn } from '@grove/kube'
import { resources } from '@grove/operator'
import { type EmbeddedCluster, startEmbeddedCluster } from './embedded-cluster.ts'
import { Harness } from './harness.ts'
import { SkippingClock } from './skipping-clock.ts'

const pair = (startup: string) => `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: pair}
spec:
  replicas: 1
  template:
    cliqueStartupType: CliqueStartupType${startup}
    cliques:
      - name: first
        spec: {roleName: first, replicas: 1, podSpec: {containers: [{name: main, image: 'registry.example/a:1'}]}}
      - name: second
        spec: {roleName: second, replicas: 1, podSpec: {containers: [{name: main, image: 'registry.example/b:1'}]}}
`

const clock = new SkippingClock()
let embedded: EmbeddedCluster

before(async () => {
  embedded = await startEmbeddedCluster({ nodes: 2, clock, controllers: () => ({ serviceAccounts: {} }) })
})
after(() => embedded?.stop())

async function withHarness(
  run: (harness: Harness, reads: () => number) => Promise<void>,
  namespace: string,
): Promise<void> {
  const { client } = embedded
  await embedded.newNamespace(namespace)
  let reads = 0
  const operatorClient = createClientOn(inProcessTransport(embedded.cluster.handle), {
    clock,
    onRequest: ({ verb, resource, path }) => {
      const isRead = (verb === 'get' || verb === 'find') && resource === 'secrets'
      if (isRead && path.includes(`/${namespace}/`)) reads++
    },
  })
  const harness = new Harness({ client, operatorClient, namespace, writes: [], clock })
  await harness.startOperator()
  try {
    await run(harness, () => reads)
  } finally {
    await harness.stopOperator()
  }
}

test('a set without startup order does not wait for a token', () =>
  withHarness(async harness => {
    await harness.apply(pair('AnyOrder'))
    await harness.untilReady('pair', 2)
    await harness.untilAvailable('pair', 1)
    const ref = { name: names.tokenSecret('pair'), namespace: harness.namespace }
    assert.equal((await harness.client.get(resources.secrets, ref)).data?.token, undefined)
  }, 'any'))

test('with a startup order, pods with dependencies are created as soon as the Secret has a token', () =>
  withHarness(async harness => {
    await harness.apply(pair('InOrder'))
    const hosts = async () => (await harness.pods('pair')).map(pod => pod.spec?.hostname).sort()
    await harness.until('the first pod', hosts, found => found.length === 1)
    await harness.untilQuiet()
    assert.deepEqual(await hosts(), ['pair-0-first-0'])
    const ref = { name: names.tokenSecret('pair'), namespace: harness.namespace }
    const data = { token: Buffer.from('here it is').toString('base64') }
    await harness.client.patch(resources.secrets, ref, { merge: { data } })
    await harness.until('the second pod', hosts, found => found.join() === 'pair-0-first-0,pair-0-second-0')
  }, 'ordered'))

test('20 waiting cliques cause one poll of the Secret, and the set reports the missing token', () =>
  withHarness(async (harness, reads) => {
    const manifest = pair('InOrder')
    const [head, cliques = ''] = manifest.split('    cliques:\n')
    const [, second = ''] = cliques.split(/(?= {6}- name: second)/)
    const followers = Array.from({ length: 20 }, (_, at) => second.replaceAll('second', `second${at}`))
    await harness.apply(`${head}    cliques:\n${cliques}${followers.join('')}`)
    // The operator reports the missing token only after it had time to appear.
    await harness.fastForward(15_000)
    const set = await harness.until(
      'the set to report it',
      () => harness.set('pair'),
      seen => (seen?.status?.lastErrors ?? []).length > 0,
    )
    assert.match(
      set!.status!.lastErrors!.map(({ code, description }) => `${code} ${description}`).join(),
      /^ERR_SECRET_WITHOUT_TOKEN .*Secret waiting\/pair-ic-sat has no token/,
    )
    assert.ok(reads() < 40, `${reads()} reads of the Secret`)
    const ref = { name: names.tokenSecret('pair'), namespace: harness.namespace }
    const data = { token: Buffer.from('here it is').toString('base64') }
    await harness.client.patch(resources.secrets, ref, { merge: { data } })
    await harness.until(
      'all pods',
      () => harness.pods('pair'),
      pods => pods.length === 22,
    )
    await harness.until(
      'no errors in the status',
      () => harness.set('pair'),
      seen => !seen?.status?.lastErrors?.length,
    )
  }, 'waiting'))
