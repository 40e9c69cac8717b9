// SPDX-License-Identifier: Apache-2.0

// Tests the warning about a member of a scaling group that is scaled directly, on any cluster with the webhooks.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { call } from './grove-call.ts'

/** Without the labels of a set, so that no operator acts on it. */
const clique = (name: string, labels: object) => ({
  apiVersion: 'grove.io/v1alpha1',
  kind: 'PodClique',
  metadata: { name, namespace: 'default', labels },
  spec: {
    roleName: 'worker',
    replicas: 1,
    minAvailable: 1,
    podSpec: { containers: [{ name: 'main', image: 'registry.example/app:1' }] },
  },
})
const member = clique('llm-0-decode-0-worker', { 'grove.io/podcliquescalinggroup': 'llm-0-decode' })
const standalone = clique('llm-0-router', { tier: 'fast' })

const warning =
  /^Warning: PodClique llm-0-decode-0-worker is a member of PodCliqueScalingGroup llm-0-decode\. .*: kubectl -n default scale pcsg\/llm-0-decode --replicas=COUNT\n$/

export interface ScalingCluster {
  readonly kubeconfig: string
  /** Stops the webhooks. Undefined where they cannot stop. */
  readonly stopWebhooks?: () => Promise<void>
}

export function testMemberScaling(cluster: () => ScalingCluster): void {
  const grove = async (args: string, object?: object) => {
    const input = object === undefined ? '' : JSON.stringify(object)
    const result = await call([...args.split(' '), '--kubeconfig', cluster().kubeconfig], { input })
    assert.equal(result.status, 0, result.stderr)
    return result.stderr
  }
  const withReplicas = (object: typeof member, replicas: number) => ({
    ...object,
    spec: { ...object.spec, replicas },
  })

  it('scaling a member of a group returns a warning with the command for the group', async () => {
    assert.equal(await grove('apply -f -', member), '')
    assert.equal(await grove('apply -f -', standalone), '')
    const { name } = member.metadata
    assert.match(await grove(`scale pclq ${name} --replicas=3`), warning)
    assert.equal(await grove(`scale pclq ${name} --replicas=3`), '', 'nothing changed')
    assert.match(await grove(`scale pclq ${name} --replicas=0`), warning)
    assert.match(await grove(`scale pclq ${name} --replicas=2 --dry-run=server`), warning)
    assert.match(await grove('apply -f -', withReplicas(member, 4)), warning)
    assert.equal(await grove('apply -f -', withReplicas(member, 4)), '')
    assert.equal(await grove(`scale pclq ${standalone.metadata.name} --replicas=3`), '')
    assert.equal(await grove('apply -f -', withReplicas(standalone, 2)), '')
  })

  it('a member can be scaled while the webhooks are down', async t => {
    const stop = cluster().stopWebhooks
    if (!stop) return t.skip('the webhooks are part of this cluster')
    await stop()
    assert.equal(await grove(`scale pclq ${member.metadata.name} --replicas=1`), '')
  })
}
