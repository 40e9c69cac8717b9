// SPDX-License-Identifier: Apache-2.0

// Tests the command around the plan. Scenarios test the plan itself with an operator that stops and starts again.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { defineResource, type KubeObject } from '@grove/kube'
import { waitFor } from '@grove/test-kubernetes'
import { type EmbeddedCluster, startEmbedded } from '../testing/embedded-cluster.ts'
import { call } from '../testing/grove-call.ts'

const manifest = `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: web}
spec:
  replicas: 1
  template:
    cliques:
      - name: front
        spec: {roleName: front, replicas: 2, podSpec: {containers: [{name: main, image: "registry.example/web:1"}]}}
`

describe('grove handback', () => {
  let cluster: EmbeddedCluster
  let namespace: string

  before(async () => {
    cluster = await startEmbedded()
    namespace = await cluster.newNamespace()
    await call(['apply', '-f', '-', '-n', namespace, '--kubeconfig', cluster.kubeconfig], { input: manifest })
    await waitFor('the set', async () => (await grove('status')).status === 0)
    // The operator reports the phases of gangs after the availability of the set.
    const phase = ['get', 'pcs', 'web', '-o', 'jsonpath={.status.podGangStatuses[*].phase}']
    await waitFor('the last status', async () => (await grove(...phase)).stdout.trim() === 'Running')
  })
  after(() => cluster.stop())
  const grove = (...args: string[]) => call([...args, '-n', namespace, '--kubeconfig', cluster.kubeconfig])

  test('prints the planned changes, and writes nothing without --yes', async () => {
    const before = await grove('get', 'pods,pclq,pcs', '-o', 'json')
    const { status, stdout } = await grove('handback')
    assert.equal(status, 0)
    assert.match(
      stdout,
      /: would rewrite the hashes of 2 Pods, 1 PodCliques, 1 PodCliqueSets; no pod restarts/,
    )
    assert.match(stdout, /Nothing was written\. Stop the operator/)
    assert.equal((await grove('get', 'pods,pclq,pcs', '-o', 'json')).stdout, before.stdout)
  })

  test('writes nothing while an operator holds its Lease', async () => {
    const leases = defineResource<KubeObject & { readonly spec: object }>({
      group: 'coordination.k8s.io',
      version: 'v1',
      resource: 'leases',
      kind: 'Lease',
      namespaced: true,
    })
    await cluster.client.create(leases, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace, name: 'grove-operator-leader-election' },
      spec: {
        holderIdentity: 'operator-1',
        leaseDurationSeconds: 3600,
        renewTime: new Date().toISOString().replace('Z', '000Z'),
      },
    })
    const { status, stdout, stderr } = await grove('handback', '--yes', '--operator-namespace', namespace)
    assert.equal(status, 1)
    assert.equal(stdout, '')
    assert.match(
      stderr,
      /operator-1 holds the Lease .*: the operator runs and would take the sets over again/,
    )
  })
})
