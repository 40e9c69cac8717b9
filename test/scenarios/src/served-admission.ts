// SPDX-License-Identifier: Apache-2.0

// Effects of the webhooks of an operator process, the same on both clusters.
import assert from 'node:assert/strict'
import { finalizer, type PodCliqueSet } from '@grove/api'
import type { Client } from '@grove/kube'
import { isKubeError } from '@grove/kube'
import { resources } from '@grove/operator'
import { waitFor } from '@grove/test-kubernetes'
import { isReady } from './harness.ts'
import { oneDevice, provideDevices } from './scenarios/devices.ts'

export interface Place {
  /** A client of a user with all rights that no webhook exempts. */
  readonly client: Client
  readonly namespace: string
}

/** The users that the chart exempts, plus the user names of the embedded cluster's controllers. */
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

/** Runs before the webhooks are registered: the schema accepts sets that the webhooks cannot parse. */
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

/** The scheduler can update claims and users can annotate them, but only the operator can delete them. */
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
  // Schedulers write the status of gangs.
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
