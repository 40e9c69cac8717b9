// SPDX-License-Identifier: Apache-2.0

// What the webhooks of an operator process do to objects, the same on both clusters.
import assert from 'node:assert/strict'
import { finalizer, type PodCliqueSet } from '@grove/api'
import type { Client } from '@grove/kube'
import { isKubeError } from '@grove/kube'
import { resources } from '@grove/operator'
import { waitFor } from '@grove/test-kubernetes'
import { isReady } from './harness.ts'
import { oneDevice, provideDevices } from './scenarios/devices.ts'

export interface Place {
  /** Of a user who may do everything and is not exempt from any webhook. */
  readonly client: Client
  readonly namespace: string
}

/** As the chart exempts them, with the names of the embedded cluster's controllers. */
export const exemptUserNames = [
  'system:serviceaccount:kube-system:generic-garbage-collector',
  'system:serviceaccount:kube-system:horizontal-pod-autoscaler',
  'system:kube-controller-manager',
]

const spec = (template: object) => ({
  replicas: 1,
  template: {
    cliques: [
      {
        name: 'web',
        spec: {
          roleName: 'web',
          replicas: 1,
          podSpec: { containers: [{ name: 'main', image: 'registry.example/web:1' }] },
        },
      },
    ],
    ...template,
  },
})

function setOf(namespace: string, name: string, template: object, metadata: object = {}): PodCliqueSet {
  return {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueSet',
    metadata: { name, namespace, ...metadata },
    spec: spec(template),
  } as PodCliqueSet
}

/** Before there are webhooks: the schema lets pass what the webhooks cannot read. */
export async function storeUnreadable({ client, namespace }: Place): Promise<void> {
  const metadata = { finalizers: [finalizer.podCliqueSet] }
  for (const name of ['removed', 'repaired'])
    await client.create(
      resources.podCliqueSets,
      setOf(namespace, name, { terminationDelay: 'abc' }, metadata),
    )
}

export async function removeUnreadable({ client, namespace }: Place): Promise<void> {
  await client.delete(resources.podCliqueSets, { namespace, name: 'removed' })
  await waitFor(
    'the unreadable set to be removed',
    async () => (await client.find(resources.podCliqueSets, { namespace, name: 'removed' })) === undefined,
  )
}

export async function repairUnreadable({ client, namespace }: Place): Promise<void> {
  const repair = (terminationDelay: string) =>
    client.patch(
      resources.podCliqueSets,
      { namespace, name: 'repaired' },
      { merge: { spec: { template: { terminationDelay } } } },
    )
  await assert.rejects(repair('def'), /terminationDelay/)
  await repair('1h')
  await waitFor('the pod of the repaired set', async () => {
    const { items } = await client.list(resources.pods, { namespace })
    return items.some(
      pod => pod.metadata.labels?.['app.kubernetes.io/part-of'] === 'repaired' && isReady(pod),
    )
  })
}

/** Claims can be used by the scheduler and annotated by anybody, but only the operator deletes them. */
export async function protectClaims({ client, namespace }: Place): Promise<void> {
  const deviceClass = await provideDevices({ client, namespace }, 1)
  const set = setOf(namespace, 'share', {
    resourceClaimTemplates: [{ name: 'device', templateSpec: { spec: oneDevice(deviceClass) } }],
    resourceSharing: [{ name: 'device', scope: 'AllReplicas' }],
  })
  await client.create(resources.podCliqueSets, set)
  await waitFor('the pod with a claim', async () => {
    const { items } = await client.list(resources.pods, { namespace })
    return items.some(pod => pod.metadata.labels?.['app.kubernetes.io/part-of'] === 'share' && isReady(pod))
  })
  const { items } = await client.list(resources.resourceClaims, { namespace })
  const name = items[0]?.metadata.name ?? ''
  await client.patch(
    resources.resourceClaims,
    { namespace, name },
    { merge: { metadata: { annotations: { 'example.com/seen': 'yes' } } } },
  )
  await assert.rejects(client.delete(resources.resourceClaims, { namespace, name }), isDenied)
}

export async function protectStatus({ client, namespace }: Place): Promise<void> {
  const name = 'repaired-0-web'
  await assert.rejects(
    client.patch(
      resources.podCliques,
      { namespace, name },
      { merge: { status: { replicas: 77 } } },
      { subresource: 'status' },
    ),
    isDenied,
  )
  // Schedulers write this one.
  const { items } = await client.list(resources.podGangs, { namespace })
  await client.patch(
    resources.podGangs,
    { namespace, name: items[0]?.metadata.name ?? '' },
    { merge: { status: { placementScore: 0.5 } } },
    { subresource: 'status' },
  )
}

function isDenied(error: unknown): boolean {
  return isKubeError(error) && /"authorizer\.webhooks\.grove\.io" denied the request/.test(error.message)
}
