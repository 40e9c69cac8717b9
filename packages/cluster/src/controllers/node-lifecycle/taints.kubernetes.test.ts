// SPDX-License-Identifier: Apache-2.0

// Compares the taints from conditions and cordons with those of the real node lifecycle controller.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Client, createClient, loadKubeconfig, type Stored } from '@grove/kube'
import { type Kubernetes, startKubernetes, waitFor } from '@grove/test-kubernetes'
import { type Node, nodes } from '../kinds.ts'
import { wantedTaints } from './taints.ts'

let kubernetes: Kubernetes
let client: Client

before(async () => {
  kubernetes = await startKubernetes({ scheduler: false, kwok: false })
  client = createClient(loadKubeconfig({ path: kubernetes.kubeconfig }))
})

after(async () => {
  await client?.close()
  await kubernetes?.stop()
})

const cases: Readonly<
  Record<string, { readonly spec?: Node['spec']; readonly conditions: Record<string, string> }>
> = {
  healthy: { conditions: { Ready: 'True', MemoryPressure: 'False' } },
  cordoned: { spec: { unschedulable: true }, conditions: { Ready: 'True' } },
  unknown: { conditions: { Ready: 'Unknown' } },
  pressed: { conditions: { Ready: 'True', MemoryPressure: 'True', DiskPressure: 'True' } },
  owned: {
    spec: { taints: [{ key: 'example.com/mine', effect: 'NoExecute' }] },
    conditions: { Ready: 'True' },
  },
}

describe('the taints of a node', () => {
  for (const [name, { spec, conditions }] of Object.entries(cases))
    it(`that is ${name} are equal`, async () => {
      const now = new Date().toISOString()
      const status = {
        conditions: Object.entries(conditions).map(([type, value]) => ({
          type,
          status: value,
          lastHeartbeatTime: now,
          lastTransitionTime: now,
        })),
      }
      const created = await client.create(nodes, { metadata: { name }, spec, status })
      const named = (node: Stored<Node>, taints = node.spec?.taints) =>
        (taints ?? [])
          .map(({ key, effect }) => `${key}:${effect}`)
          .sort()
          .join(' ')
      const ours = named(created, wantedTaints(created, now) ?? created.spec?.taints)
      let real = ''
      await waitFor(`the taints ${ours}`, async () => {
        real = named(await client.get(nodes, { name }))
        return real === ours
      })
      assert.equal(ours, real)
    })
})
