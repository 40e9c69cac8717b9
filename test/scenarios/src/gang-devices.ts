// SPDX-License-Identifier: Apache-2.0

// The gang scheduler with pods that use devices through resource claims. The same tests run on the embedded cluster
// and on a real one, whose controllers generate claims from templates and release the claims of deleted pods.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { label, type Pod, type PodGang, type PodSpec, type ResourceClaim } from '@grove/api'
import { type Client, isNotFound, type Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import { type RunningScheduler, schedulerResources, startScheduler } from '@grove/scheduler'
import { waitFor } from '@grove/test-kubernetes'
import { type GangCluster, nodes, uncordon } from './gang-scheduler.ts'

const { resourceSlices, deviceClasses, resourceClaims, resourceClaimTemplates } = schedulerResources

export function gangDeviceTests(title: string, cluster: () => GangCluster): void {
  describe(title, { concurrency: false }, () => {
    let client: Client
    let namespace = ''
    let driver = ''
    let scheduler: RunningScheduler | undefined
    let slices: string[] = []

    beforeEach(async () => {
      client = cluster().client
      namespace = await cluster().newNamespace()
      driver = `${namespace}.example.com`
      slices = []
      await uncordon(client, cluster().nodeNames)
      await client.create(deviceClasses, {
        apiVersion: 'resource.k8s.io/v1',
        kind: 'DeviceClass',
        metadata: { name: driver },
        spec: { selectors: [{ cel: { expression: `device.driver == "${driver}"` } }] },
      })
      scheduler = await startScheduler(cluster().connect())
    })
    afterEach(async () => {
      await scheduler?.stop()
      for (const { metadata } of await pods()) await deletePod(metadata)
      await waitFor('no pod left', async () => (await pods()).length === 0)
      for (const name of slices) await client.delete(resourceSlices, { name })
      await client.delete(deviceClasses, { name: driver })
    })

    const pods = async () => (await client.list(resources.pods, { namespace })).items
    const claims = async () => (await client.list(resourceClaims, { namespace })).items
    const nodeOf = async (name: string) =>
      (await client.get(resources.pods, { name, namespace })).spec?.nodeName
    const scheduled = async (name: string) =>
      (await client.get(resources.podGangs, { name, namespace })).status?.conditions?.find(
        ({ type }) => type === 'Scheduled',
      )

    async function deletePod(ref: { name: string }): Promise<void> {
      await client
        .delete(resources.pods, { name: ref.name, namespace }, { gracePeriodSeconds: 0 })
        .catch(error => {
          if (!isNotFound(error)) throw error
        })
    }

    /** Adds devices to a node. A device has the model of its node's position: even or odd. */
    async function addDevices(node: string, count: number): Promise<void> {
      const name = `${driver}-${node}`
      slices.push(name)
      const model = cluster().nodeNames.indexOf(node) % 2 === 0 ? 'even' : 'odd'
      await client.create(resourceSlices, {
        apiVersion: 'resource.k8s.io/v1',
        kind: 'ResourceSlice',
        metadata: { name },
        spec: {
          driver,
          nodeName: node,
          pool: { name: node, generation: 1, resourceSliceCount: 1 },
          devices: Array.from({ length: count }, (_, index) => ({
            name: `device-${index}`,
            attributes: { model: { string: model } },
          })),
        },
      })
    }

    function claimSpec(count: number, ...expressions: string[]): NonNullable<ResourceClaim['spec']> {
      const selectors = expressions.map(expression => ({ cel: { expression } }))
      const exactly = { deviceClassName: driver, allocationMode: 'ExactCount', count, selectors }
      return { devices: { requests: [{ name: 'device', exactly }] } }
    }

    async function createTemplate(name: string, count: number, ...expressions: string[]): Promise<void> {
      await client.create(resourceClaimTemplates, {
        apiVersion: 'resource.k8s.io/v1',
        kind: 'ResourceClaimTemplate',
        metadata: { name, namespace },
        spec: { spec: claimSpec(count, ...expressions) },
      })
    }

    async function createClaim(name: string, count: number): Promise<Stored<ResourceClaim>> {
      return client.create(resourceClaims, {
        apiVersion: 'resource.k8s.io/v1',
        kind: 'ResourceClaim',
        metadata: { name, namespace },
        spec: claimSpec(count),
      })
    }

    /** A gang of one clique. Returns the names of its pods. */
    async function createGang(
      name: string,
      replicas: number,
      claim: NonNullable<PodSpec['resourceClaims']>[number],
    ): Promise<string[]> {
      const clique = `${name}-a`
      await client.create(resources.podGangs, {
        apiVersion: 'scheduler.grove.io/v1alpha1',
        kind: 'PodGang',
        metadata: { name, namespace, labels: { [label.schedulerName]: 'grove-scheduler' } },
        spec: { podgroups: [{ name: clique, podReferences: [], minReplicas: replicas }] },
      } as PodGang)
      const names = Array.from({ length: replicas }, (_, index) => `${clique}-${index}`)
      for (const [index, pod] of names.entries())
        await client.create(resources.pods, {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: {
            name: pod,
            namespace,
            labels: {
              [label.podGang]: name,
              [label.podClique]: clique,
              [label.podIndex]: String(index),
            },
          },
          spec: {
            schedulerName: 'grove-scheduler',
            resourceClaims: [claim],
            containers: [{ name: 'main', image: 'registry.example/main:1' }],
          },
        } as unknown as Pod)
      const initialized = {
        type: 'Initialized',
        status: 'True',
        reason: 'Test',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      }
      await client.patch(
        resources.podGangs,
        { name, namespace },
        { merge: { status: { phase: 'Pending', conditions: [initialized] } } },
        { subresource: 'status' },
      )
      return names
    }

    async function untilScheduled(name: string): Promise<void> {
      await waitFor(`PodGang ${name} is scheduled`, async () => (await scheduled(name))?.status === 'True')
    }

    const usedDevices = async () =>
      (await claims())
        .flatMap(({ status }) =>
          (status?.allocation?.devices?.results ?? []).map(({ pool, device }) => `${pool}/${device}`),
        )
        .sort()

    test('binds a gang when all of its claims can be allocated, and frees devices of deleted pods', async () => {
      const [first = '', second = '', third = ''] = cluster().nodeNames
      await addDevices(first, 2)
      await addDevices(second, 2)
      await createTemplate('even', 2, `device.attributes["${driver}"].model == "even"`)
      const claim = { name: 'device', resourceClaimTemplateName: 'even' }
      const names = await createGang('w-0', 2, claim)
      await waitFor('a reason', async () => {
        const reason = (await scheduled('w-0'))?.reason
        if (reason !== 'DevicesUnavailable') throw new Error(`the reason is ${reason}`)
        return true
      })
      assert.deepEqual(await usedDevices(), [])
      await addDevices(third, 2)
      await untilScheduled('w-0')
      const found = await Promise.all(names.map(nodeOf))
      assert.deepEqual(found.toSorted(), [first, third].sort())
      for (const { metadata, status } of await claims()) {
        assert.ok(metadata.finalizers?.includes('resource.kubernetes.io/delete-protection'))
        const owner = metadata.ownerReferences?.[0]?.name ?? ''
        assert.deepEqual(
          status?.reservedFor?.map(({ name }) => name),
          [owner],
        )
        const node = await nodeOf(owner)
        assert.deepEqual(
          status?.allocation?.devices?.results?.map(({ pool }) => pool),
          [node, node],
        )
      }
      for (const name of names) await deletePod({ name })
      await waitFor('free devices', async () => (await usedDevices()).length === 0)
      await createGang('w-1', 2, claim)
      await untilScheduled('w-1')
    })

    test('pods that share a claim run on the node of its devices', async () => {
      const [first = '', second = ''] = cluster().nodeNames
      await addDevices(first, 1)
      await addDevices(second, 2)
      await createClaim('shared', 2)
      const names = await createGang('w-0', 3, { name: 'device', resourceClaimName: 'shared' })
      await untilScheduled('w-0')
      assert.deepEqual(await Promise.all(names.map(nodeOf)), [second, second, second])
      const [claim] = await claims()
      assert.deepEqual(claim?.status?.reservedFor?.map(({ name }) => name).sort(), names)
      assert.deepEqual(await usedDevices(), [`${second}/device-0`, `${second}/device-1`])
    })

    test('an allocation that an ended scheduler left behind does not keep a gang waiting', async () => {
      const [first = '', second = ''] = cluster().nodeNames
      await addDevices(first, 1)
      await addDevices(second, 1)
      await scheduler!.abandon()
      const { metadata } = await createClaim('left', 1)
      const [name = ''] = await createGang('w-0', 1, { name: 'device', resourceClaimName: 'left' })
      const { uid } = (await client.get(resources.pods, { name, namespace })).metadata
      await client.patch(nodes, { name: first }, { merge: { spec: { unschedulable: true } } })
      await client.patch(resourceClaims, metadata, {
        merge: { metadata: { finalizers: ['resource.kubernetes.io/delete-protection'] } },
      })
      const allocation = {
        devices: { results: [{ request: 'device', driver, pool: first, device: 'device-0' }] },
        nodeSelector: {
          nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [first] }] }],
        },
      }
      const status = { allocation, reservedFor: [{ resource: 'pods', name, uid }] }
      await client.patch(resourceClaims, metadata, { merge: { status } }, { subresource: 'status' })
      scheduler = await startScheduler(cluster().connect())
      await untilScheduled('w-0')
      assert.equal(await nodeOf(name), second)
      assert.deepEqual(await usedDevices(), [`${second}/device-0`])
    })
  })
}
