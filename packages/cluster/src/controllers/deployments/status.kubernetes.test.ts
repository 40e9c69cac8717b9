// SPDX-License-Identifier: Apache-2.0

// Compares with the real deployment controller: the status computed from its ReplicaSets must equal the
// status that it wrote.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Client, createClient, loadKubeconfig } from '@grove/kube'
import { gatedStages, type Kubernetes, startKubernetes, waitFor } from '@grove/test-kubernetes'
import { deployments, replicaSets } from '../kinds.ts'
import { currentSet } from './revision.ts'
import { deploymentStatus } from './status.ts'

let kubernetes: Kubernetes
let client: Client

before(async () => {
  kubernetes = await startKubernetes({ nodes: 2, stages: gatedStages })
  client = createClient(loadKubeconfig({ path: kubernetes.kubeconfig }))
})

after(async () => {
  await client?.close()
  await kubernetes?.stop()
})

const withoutTimes = (value: unknown) =>
  JSON.parse(JSON.stringify(value), (key, each) => (/Time$/.test(key) || each === 0 ? undefined : each)) as {
    conditions?: { type: string }[]
  }

const sorted = (status: unknown) => {
  const { conditions = [], ...counts } = withoutTimes(status)
  return { ...counts, conditions: [...conditions].sort((a, b) => (a.type < b.type ? -1 : 1)) }
}

describe('the status of a deployment', () => {
  for (const ready of ['true', 'false'])
    it(`with pods that are ${ready === 'true' ? 'ready' : 'not ready'}`, async () => {
      const namespace = await kubernetes.newNamespace()
      const labels = { app: 'web' }
      const template = {
        metadata: { labels, annotations: { 'test.grove.io/ready': ready } },
        spec: { containers: [{ name: 'c', image: 'i' }] },
      }
      const ref = { namespace, name: 'web' }
      await client.create(deployments, {
        metadata: ref,
        spec: { replicas: 3, selector: { matchLabels: labels }, template },
      })
      await waitFor('the rollout to stop changing', async () => {
        const { status } = await client.get(deployments, ref)
        return ready === 'true'
          ? status?.conditions?.some(({ reason }) => reason === 'NewReplicaSetAvailable') === true
          : status?.replicas === 3 &&
              status.conditions?.some(({ reason }) => reason === 'ReplicaSetUpdated') === true
      })
      const real = await client.get(deployments, ref)
      const sets = (await client.list(replicaSets, { namespace })).items
      const ours = deploymentStatus(real, currentSet(real, sets), sets, false, Date.now())
      assert.deepEqual(sorted(ours), sorted(real.status))
    })
})
