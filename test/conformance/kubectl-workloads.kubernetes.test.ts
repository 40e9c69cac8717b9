// SPDX-License-Identifier: Apache-2.0

// The real kubectl on an embedded cluster with controllers, scheduler and nodes: what people do to what runs.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import {
  type Cluster,
  createCluster,
  type HttpsFront,
  inProcessTransport,
  plainNodes,
  type RunningControllers,
  serveHttps,
  startControllers,
} from '@grove/cluster'
import { createClientOn } from '@grove/kube'
import { Kubectl } from './kubectl.ts'
import { configMap, deployment } from './objects.ts'

describe('kubectl on workloads', () => {
  let cluster: Cluster
  let controllers: RunningControllers
  let front: HttpsFront
  let kubectl: Kubectl

  before(async () => {
    cluster = createCluster()
    controllers = await startControllers(createClientOn(inProcessTransport(cluster.handle)))
    await controllers.fleet.add(plainNodes(2))
    front = await serveHttps({ handle: cluster.handle })
    kubectl = await Kubectl.for(front.kubeconfig)
  })
  after(async () => {
    kubectl?.close()
    await front?.close()
    await controllers?.stop()
    cluster?.stop()
  })

  it('applies on the server: conflicts, takes over, compares', async () => {
    const manifest = (value: string) => JSON.stringify(configMap('m', { a: value }))
    assert.equal(
      await kubectl.ok('apply --server-side -f -', manifest('1')),
      'configmap/m serverside-applied\n',
    )
    const other = await kubectl.run('apply --server-side --field-manager=other -f -', manifest('2'))
    assert.equal(other.code, 1)
    assert.match(other.error, /Apply failed with 1 conflict: conflict with "kubectl": \.data\.a/)
    assert.match(other.error, /--force-conflicts/)
    const difference = await kubectl.run(
      'diff --server-side --field-manager=other --force-conflicts -f -',
      manifest('2'),
    )
    assert.equal(difference.code, 1, difference.error)
    assert.match(difference.out, /^\+ +a: "2"$/m)
    await kubectl.ok('apply --server-side --field-manager=other --force-conflicts -f -', manifest('2'))
    assert.equal(await kubectl.ok('get configmap m -o jsonpath={.data.a}'), '2')
    assert.match(
      await kubectl.ok(
        'get configmap m --show-managed-fields -o jsonpath={.metadata.managedFields[*].manager}',
      ),
      /other/,
    )
  })

  it('moves what was applied on the client’s side to the server', async () => {
    const manifest = (value: string) => JSON.stringify(configMap('c', { a: value }))
    await kubectl.ok('apply -f -', manifest('1'))
    assert.equal(
      await kubectl.ok('apply --server-side -f -', manifest('2')),
      'configmap/c serverside-applied\n',
    )
    const managers = await kubectl.ok(
      'get configmap c --show-managed-fields -o jsonpath={.metadata.managedFields[*].manager}',
    )
    // The second one keeps the annotation, for those who still apply on their side.
    assert.deepEqual(managers.split(' ').sort(), ['kubectl', 'kubectl-last-applied'])
  })

  it('rolls out, waits, scales and undoes', async () => {
    await kubectl.ok('apply --server-side -f -', JSON.stringify(deployment('site', { replicas: 2 })))
    assert.match(
      await kubectl.ok('rollout status deployment/site --timeout=60s'),
      /deployment "site" successfully rolled out/,
    )
    await kubectl.ok('wait --for=condition=Available deployment/site --timeout=60s')
    await kubectl.ok('set image deployment/site main=registry.example/app:2')
    await kubectl.ok('rollout status deployment/site --timeout=60s')
    assert.match(await kubectl.ok('rollout history deployment/site'), /^2 /m)
    await kubectl.ok('rollout undo deployment/site')
    await kubectl.ok('rollout status deployment/site --timeout=60s')
    assert.equal(
      await kubectl.ok('get deployment site -o jsonpath={.spec.template.spec.containers[0].image}'),
      'registry.example/app:1',
    )
    await kubectl.ok('scale deployment site --replicas=3')
    await kubectl.ok('wait --for=jsonpath={.status.readyReplicas}=3 deployment/site --timeout=60s')
    await kubectl.ok('rollout restart deployment/site')
    await kubectl.ok('rollout status deployment/site --timeout=60s')
  })

  it('drains a node', async () => {
    const node = (await kubectl.ok('get nodes -o jsonpath={.items[0].metadata.name}')).trim()
    assert.match(
      await kubectl.ok(`drain ${node} --ignore-daemonsets --timeout=60s`),
      new RegExp(`${node} drained`),
    )
    assert.equal((await kubectl.ok(`get pods -o name --field-selector spec.nodeName=${node}`)).trim(), '')
    await kubectl.ok(`uncordon ${node}`)
  })

  it('shows events and permissions', async () => {
    assert.match(await kubectl.ok('get events'), /Scheduled|SuccessfulCreate|ScalingReplicaSet/)
    assert.equal(await kubectl.ok('auth can-i delete nodes'), 'yes\n')
  })
})
