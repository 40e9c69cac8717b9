// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { defaultConfiguration } from '@grove/api'
import { type Client, createClient, loadKubeconfig } from '@grove/kube'
import { type RunningOperator, startOperator } from '@grove/operator'
import { type Kubernetes, startKubernetes } from '@grove/test-kubernetes'
import { call } from '../testing/grove-call.ts'
import { testSetCommands } from '../testing/set-commands.ts'

describe('sets of real Kubernetes', () => {
  let kubernetes: Kubernetes
  let client: Client
  let operator: RunningOperator

  before(async () => {
    kubernetes = await startKubernetes({ nodes: 2 })
    client = createClient(loadKubeconfig({ path: kubernetes.kubeconfig }))
    const { stdout: input } = await call(['crds'])
    const applied = await call(['apply', '-f', '-', '--kubeconfig', kubernetes.kubeconfig], { input })
    assert.equal(applied.status, 0, applied.stderr)
    await kubernetes.kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=120s')
    operator = await startOperator(client, {
      configuration: defaultConfiguration(),
      waiterImage: 'grove-initc:test',
    })
  })
  after(async () => {
    await operator?.stop()
    await client?.close()
    await kubernetes?.stop()
  })

  testSetCommands(
    () => kubernetes.kubeconfig,
    () => kubernetes.newNamespace('sets'),
  )
})
