// SPDX-License-Identifier: Apache-2.0

// Two operator processes behind one Service on a real control plane. The leader is killed while a set is created.
// Certificates and processes are replaced while sets are admitted. `PODS=1000` repeats the first test with more pods.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { label, type Pod } from '@grove/api'
import { type Client, defineResource, type KubeObject, type Stored, WatchCache } from '@grove/kube'
import { resources } from '@grove/operator'
import { freePorts, type Kubernetes, startKubernetes, waitFor } from '@grove/test-kubernetes'
import { adminClient } from './admin-client.ts'
import { admissionsPerSecond, admitSets, podsPerReplica, setOf } from './admissions.ts'
import {
  type InstalledOperator,
  installOperator,
  type OperatorProcess,
  operatorNamespace,
} from './operator-process.ts'
import { ServiceProxy } from './service-proxy.ts'

const podCount = Number(process.env.PODS ?? 200)
const timeoutMs = 240_000
/** Kubernetes sends SIGTERM to a pod first. Services of a busy cluster still route to the pod for this time. */
const endpointLagMs = 2_000

interface Lease extends KubeObject {
  readonly spec?: { readonly holderIdentity?: string }
}
const leases = defineResource<Lease>({
  group: 'coordination.k8s.io',
  version: 'v1',
  resource: 'leases',
  kind: 'Lease',
  namespaced: true,
})
const validatingConfigurations = defineResource<KubeObject>({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  resource: 'validatingwebhookconfigurations',
  kind: 'ValidatingWebhookConfiguration',
  namespaced: false,
})
const lease = { namespace: operatorNamespace, name: 'grove-operator-leader-election' }

describe('two operator processes', () => {
  let kubernetes: Kubernetes
  let client: Client
  let installed: InstalledOperator
  let service: ServiceProxy
  let replicas: OperatorProcess[] = []

  before(async () => {
    kubernetes = await startKubernetes({ nodes: 40 })
    client = adminClient(kubernetes)
    const [servicePort = 0] = await freePorts(1)
    service = await ServiceProxy.listen(servicePort)
    installed = await installOperator(kubernetes, { servicePort })
    for (let index = 0; index < 2; index++) await addReplica()
  })
  after(async () => {
    for (const replica of replicas) replica.kill()
    service?.close()
    await client?.close()
    await kubernetes?.stop()
  })

  /** Starts a process, and adds it to the Service when it is ready. */
  async function addReplica(): Promise<void> {
    const replica = await installed.spawn({ replica: true })
    replicas.push(replica)
    await replica.untilReady()
    service.endpoints.add(replica.ports.webhooks)
  }

  test(`create every pod of a set of ${podCount} exactly once when the leader is killed meanwhile`, async t => {
    const namespace = await kubernetes.newNamespace('failover')
    const stop = new AbortController()
    const pods = new WatchCache<Pod>(client, resources.pods, { namespace })
    const created = new Map<string, string>()
    const deleted: string[] = []
    pods.onChange(change => {
      if (change.type === 'delete') deleted.push(change.old.metadata.name)
      else created.set(change.new.metadata.uid, placeOf(change.new))
    })
    void pods.run(stop.signal)
    await pods.waitForSync()
    const wanted = podCount / podsPerReplica
    await client.create(resources.podCliqueSets, setOf('big', namespace, wanted))
    await waitFor('some pods', () => created.size >= podCount / 4, { timeoutMs })
    const first = (await client.get(leases, lease)).spec?.holderIdentity
    const leader = await leaderAmong(replicas)
    leader.kill()
    service.endpoints.delete(leader.ports.webhooks)
    const killedAt = performance.now()
    await waitFor(
      'another leader',
      async () => (await client.get(leases, lease)).spec?.holderIdentity !== first,
      {
        timeoutMs,
      },
    )
    t.diagnostic(
      `another process leads ${((performance.now() - killedAt) / 1000).toFixed(1)} s after the kill`,
    )
    const available = async () =>
      (await client.get(resources.podCliqueSets, { namespace, name: 'big' })).status
    await waitFor('the set', async () => (await available())?.availableReplicas === wanted, { timeoutMs })
    t.diagnostic(
      `${podCount} pods are ready ${((performance.now() - killedAt) / 1000).toFixed(1)} s after the kill`,
    )
    assert.deepEqual(deleted, [], 'no pod was replaced')
    assert.equal(created.size, podCount)
    assert.equal(new Set(created.values()).size, podCount, 'no index of a clique has two pods')
    stop.abort()
    await client.delete(resources.podCliqueSets, { namespace, name: 'big' })
    replicas = replicas.filter(replica => replica !== leader)
    await addReplica()
  })

  /**
   * Deletes the configuration and restores it with its caBundle, as from a backup. Without a caBundle the API server
   * would reject sets until the operator has written it. Without defaults it rejects them anyway.
   */
  async function replaceValidatingConfiguration(): Promise<void> {
    const ref = { name: 'podcliqueset-validating-webhook' }
    const { metadata: _, ...stored } = await client.get(validatingConfigurations, ref)
    await client.delete(validatingConfigurations, ref)
    for (const replica of replicas)
      await waitFor('the operator to report it', async () =>
        /does not exist/.test((await replica.certificateProblem()) ?? ''),
      )
    await client.create(validatingConfigurations, { ...stored, metadata: ref })
  }

  test(`reject no set while certificates are replaced under ${admissionsPerSecond} admissions per second`, async t => {
    const namespace = await kubernetes.newNamespace('certificates')
    const admissions = admitSets(client, namespace)
    t.after(() => admissions.stop())
    const secret = { namespace: operatorNamespace, name: 'grove-webhook-server-cert' }
    const certificate = async () => (await client.find(resources.secrets, secret))?.data?.['tls.crt']
    for (let round = 0; round < 3; round++) {
      const old = await certificate()
      await client.delete(resources.secrets, secret)
      await waitFor('another certificate', async () => {
        const current = await certificate()
        return current !== undefined && current !== '' && current !== old
      })
      await replaceValidatingConfiguration()
      for (const replica of replicas) await replica.untilReady()
      await admissions.untilFurther(admissionsPerSecond)
    }
    t.diagnostic(`${await admissions.stop()} sets were admitted`)
    assert.deepEqual(admissions.failures, [])
  })

  test(`reject no set while both processes are replaced under ${admissionsPerSecond} admissions per second`, async t => {
    const namespace = await kubernetes.newNamespace('upgrade')
    const admissions = admitSets(client, namespace)
    t.after(() => admissions.stop())
    await admissions.untilFurther(admissionsPerSecond)
    const outdated = [...replicas]
    for (const old of outdated) {
      // The same order as a Deployment with maxSurge 1 and maxUnavailable 0.
      await addReplica()
      replicas = replicas.filter(replica => replica !== old)
      const ended = old.terminate()
      await new Promise(resolve => setTimeout(resolve, endpointLagMs))
      service.endpoints.delete(old.ports.webhooks)
      assert.equal(await ended, 0, old.output)
    }
    await admissions.untilFurther(admissionsPerSecond)
    t.diagnostic(`${await admissions.stop()} sets were admitted`)
    assert.deepEqual(admissions.failures, [])
    await leaderAmong(replicas)
  })
})

async function leaderAmong(processes: readonly OperatorProcess[]): Promise<OperatorProcess> {
  for (const each of processes)
    if (/^leader_election_master_status\{[^}]*\} 1$/m.test(await each.metrics())) return each
  throw new Error('no process leads')
}

/** The clique and the index of a pod. */
function placeOf({ metadata }: Stored<Pod>): string {
  return `${metadata.labels?.[label.podClique]} ${metadata.labels?.[label.podIndex]}`
}
