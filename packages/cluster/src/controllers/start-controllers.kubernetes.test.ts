// SPDX-License-Identifier: Apache-2.0

// Runs these controllers, scheduler and kubelets on a real API server, with kubectl as the client.

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Client, createClient, loadKubeconfig } from '@grove/kube'
import { type Kubernetes, startKubernetes, waitFor } from '@grove/test-kubernetes'
import { plainNodes } from '../nodes/topology.ts'
import { type RunningControllers, startControllers } from './start-controllers.ts'

let kubernetes: Kubernetes
let client: Client
let controllers: RunningControllers

before(async () => {
  kubernetes = await startKubernetes({ controllers: false, scheduler: false, kwok: false })
  client = createClient(loadKubeconfig({ path: kubernetes.kubeconfig }))
  controllers = await startControllers(client, {
    kubelet: { settings: { startMs: 1, initMs: 1, readyMs: 1, stopMs: 1 } },
    serviceAccounts: { caCertificate: kubernetes.ca },
  })
  await controllers.fleet.add(plainNodes(2))
})

after(async () => {
  await controllers?.stop()
  await client?.close()
  await kubernetes?.stop()
})

async function kubectl(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await kubernetes.kubectl(...args)
  assert.equal(code, 0, `kubectl ${args.join(' ')}: ${stderr}`)
  return stdout
}

async function newNamespace(name: string): Promise<string> {
  await kubectl('create', 'namespace', name)
  const hasAccount = async () =>
    (await kubernetes.kubectl('get', 'serviceaccount', 'default', '-n', name)).code === 0
  await waitFor('the default account', hasAccount)
  return name
}

const web = (image: string) => `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: 4
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: app, image: '${image}' }] }
`

describe('on a real API server', () => {
  it('kubectl can roll out, roll back and drain a deployment, and delete its namespace', async () => {
    const namespace = await newNamespace('scenarios')
    const inside = ['-n', namespace]
    await waitFor(
      'the nodes',
      async () => !(await kubectl('get', 'nodes', '-o', 'yaml')).includes('not-ready'),
    )
    await kubernetes.apply(web('app:1'), ...inside)
    assert.match(
      await kubectl('rollout', 'status', 'deployment/web', ...inside, '--timeout=120s'),
      /successfully rolled out/,
    )
    await kubectl('set', 'image', 'deployment/web', 'app=app:2', ...inside)
    assert.match(
      await kubectl('rollout', 'status', 'deployment/web', ...inside, '--timeout=120s'),
      /successfully rolled out/,
    )
    await kubectl('rollout', 'undo', 'deployment/web', ...inside)
    await kubectl('rollout', 'status', 'deployment/web', ...inside, '--timeout=120s')
    assert.match(await kubectl('rollout', 'history', 'deployment/web', ...inside), /2 .*\n3 /)
    const images = await kubectl(
      'get',
      'pods',
      ...inside,
      '-o',
      'jsonpath={.items[*].spec.containers[0].image}',
    )
    assert.deepEqual([...new Set(images.split(' '))], ['app:1'])

    await kubectl(
      'create',
      'poddisruptionbudget',
      'web',
      '--selector=app=web',
      '--max-unavailable=1',
      ...inside,
    )
    await kubectl('drain', 'node-0', '--ignore-daemonsets', '--timeout=120s')
    await kubectl('wait', 'pods', '--all', '--for=condition=Ready', ...inside, '--timeout=120s')
    const places = await kubectl('get', 'pods', ...inside, '-o', 'jsonpath={.items[*].spec.nodeName}')
    assert.deepEqual([...new Set(places.split(' '))], ['node-1'])
    await kubectl('uncordon', 'node-0')
    await kubectl('delete', 'namespace', namespace, '--timeout=120s')
  })

  it('kubectl delete follows the propagation policy', async () => {
    const namespace = await newNamespace('cascades')
    const inside = ['-n', namespace]
    const left = async () =>
      (await kubectl('get', 'replicasets,pods', ...inside, '-o', 'name')).trim().split('\n').filter(Boolean)
    await kubernetes.apply(web('app:1'), ...inside)
    await kubectl('rollout', 'status', 'deployment/web', ...inside, '--timeout=120s')
    await kubectl('delete', 'deployment', 'web', '--cascade=orphan', ...inside)
    assert.equal((await left()).length, 5)
    await kubernetes.apply(web('app:1'), ...inside)
    await waitFor('the orphans to be adopted or replaced', async () => (await left()).length >= 5)
    await kubectl('delete', 'deployment', 'web', '--cascade=foreground', ...inside, '--timeout=120s')
    await kubectl('delete', 'replicasets', '--all', '--cascade=background', ...inside)
    await waitFor('everything to be gone', async () => (await left()).length === 0)
  })
})
