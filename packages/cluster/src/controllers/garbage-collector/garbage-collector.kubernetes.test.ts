// SPDX-License-Identifier: Apache-2.0

// Compares the real garbage collector with this one, on real API servers: the same objects must remain.

import { after, before, describe, it } from 'node:test'
import {
  type Client,
  createClient,
  type DeleteOptions,
  loadKubeconfig,
  type OwnerReference,
} from '@grove/kube'
import { type Kubernetes, startKubernetes, waitFor } from '@grove/test-kubernetes'
import { configMaps } from '../kinds.ts'
import { type RunningControllers, startControllers } from '../start-controllers.ts'

interface Scenario {
  /**
   * Objects in creation order, with the names of their owners. `!` means that it does not block the owner's
   * deletion.
   */
  readonly objects: Readonly<Record<string, readonly string[]>>
  readonly held?: readonly string[]
  readonly delete: readonly (readonly [string, DeleteOptions['propagationPolicy']])[]
  /** The remaining objects: `name`, `name:owners`, `name*` when it is being deleted. */
  readonly left: readonly string[]
}

const scenarios: Readonly<Record<string, Scenario>> = {
  'background deletion deletes the whole tree': {
    objects: { a: [], b: ['a'], c: ['b'], d: [] },
    delete: [['a', 'Background']],
    left: ['d'],
  },
  'the reference to one of two owners is removed': {
    objects: { a: [], b: [], c: ['a', 'b'] },
    delete: [['a', 'Background']],
    left: ['b', 'c:b'],
  },
  'foreground deletion waits for blocking dependents': {
    objects: { a: [], b: ['a'] },
    held: ['b'],
    delete: [['a', 'Foreground']],
    left: ['a*', 'b:a*'],
  },
  'foreground deletion does not wait for other dependents': {
    objects: { a: [], b: ['!a'] },
    held: ['b'],
    delete: [['a', 'Foreground']],
    left: ['b:a*'],
  },
  'orphans remain': {
    objects: { a: [], b: ['a'], c: ['b'] },
    delete: [['a', 'Orphan']],
    left: ['b', 'c:b'],
  },
  'an orphan with another owner is deleted with that owner': {
    objects: { a: [], b: [], c: ['a', 'b'] },
    delete: [
      ['a', 'Orphan'],
      ['b', 'Background'],
    ],
    left: [],
  },
}

for (const implementation of ['kube-controller-manager', 'this package'] as const)
  describe(`the garbage collector of ${implementation}`, () => {
    let kubernetes: Kubernetes
    let client: Client
    let controllers: RunningControllers | undefined

    before(async () => {
      kubernetes = await startKubernetes({
        controllers: implementation === 'kube-controller-manager',
        scheduler: false,
        kwok: false,
      })
      client = createClient(loadKubeconfig({ path: kubernetes.kubeconfig }))
      if (implementation === 'this package')
        controllers = await startControllers(client, { run: ['garbage-collector'] })
    })

    after(async () => {
      await controllers?.stop()
      await client?.close()
      await kubernetes?.stop()
    })

    async function run(scenario: Scenario, namespace: string): Promise<void> {
      const uids = new Map<string, string>()
      for (const [name, owners] of Object.entries(scenario.objects)) {
        const ownerReferences = owners.map((text): OwnerReference => {
          const owner = text.replace('!', '')
          const blockOwnerDeletion = !text.startsWith('!')
          return {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            name: owner,
            uid: uids.get(owner)!,
            blockOwnerDeletion,
          }
        })
        const finalizers = scenario.held?.includes(name) ? ['example.com/hold'] : []
        const made = await client.create(configMaps, {
          metadata: { namespace, name, ownerReferences, finalizers },
        })
        uids.set(name, made.metadata.uid)
      }
      for (const [name, propagationPolicy] of scenario.delete) {
        const before = await client.list(configMaps, { namespace })
        await client.delete(configMaps, { namespace, name }, { propagationPolicy })
        await waitFor('the deletion to be noticed', async () => {
          const { resourceVersion } = await client.list(configMaps, { namespace })
          return resourceVersion !== before.resourceVersion
        })
      }
    }

    async function leftIn(namespace: string): Promise<string[]> {
      const { items } = await client.list(configMaps, { namespace })
      return items
        .filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt')
        .map(({ metadata: { name, ownerReferences, deletionTimestamp } }) => {
          const owners = ownerReferences?.map(owner => owner.name).join('+')
          return `${name}${owners ? `:${owners}` : ''}${deletionTimestamp ? '*' : ''}`
        })
        .sort()
    }

    for (const [text, scenario] of Object.entries(scenarios))
      it(text, async () => {
        const { metadata } = await kubernetes.request<{ metadata: { name: string } }>(
          'POST',
          '/api/v1/namespaces',
          {
            body: { metadata: { generateName: 'scenario-' } },
          },
        )
        await run(scenario, metadata.name)
        await waitFor(`the remaining objects to be ${scenario.left.join(' ')}`, async () => {
          return (await leftIn(metadata.name)).join(' ') === scenario.left.join(' ')
        })
      })
  })
