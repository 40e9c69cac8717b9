// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { defaultConfiguration } from '@grove/api'
import { type Client, createClient, type Resource } from '@grove/kube'
import { type RunningOperator, resources, startOperator } from '@grove/operator'
import { type Kubernetes, startKubernetes } from '@grove/test-kubernetes'
import { call } from '../testing/grove-call.ts'
import { testRollout } from '../testing/rollout-commands.ts'

describe('grove rollout on real Kubernetes', () => {
  let kubernetes: Kubernetes
  let client: Client
  let operator: RunningOperator

  before(async () => {
    kubernetes = await startKubernetes({ nodes: 2 })
    const { stdout } = await call(['crds'])
    const applied = await call(['apply', '-f', '-', '--kubeconfig', kubernetes.kubeconfig], { input: stdout })
    assert.equal(applied.status, 0, applied.stderr)
    client = createClient({
      server: kubernetes.server,
      namespace: 'default',
      tls: () => ({
        ca: kubernetes.ca,
        certificate: kubernetes.admin.cert,
        key: kubernetes.admin.key,
      }),
    })
    while (!(await isServed())) await new Promise(resolve => setTimeout(resolve, 50))
    operator = await startOperator(client, { configuration: defaultConfiguration() })
  })
  after(async () => {
    await operator?.stop()
    await client?.close()
    await kubernetes?.stop()
  })

  /** Custom resources are served with a delay after their definition. */
  async function isServed(): Promise<boolean> {
    const kinds: Resource[] = [
      resources.podCliqueSets,
      resources.podCliques,
      resources.podCliqueScalingGroups,
      resources.podGangs,
    ]
    const results = await Promise.allSettled(kinds.map(kind => client.list(kind, { namespace: 'default' })))
    return results.every(({ status }) => status === 'fulfilled')
  }

  testRollout(
    () => kubernetes.kubeconfig,
    () => kubernetes.newNamespace('rollout'),
  )
})
