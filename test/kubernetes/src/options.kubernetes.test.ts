// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  failAnnotation,
  gatedStages,
  type Kubernetes,
  nativeGangs,
  readyAnnotation,
  StartError,
  startKubernetes,
  waitFor,
} from './index.ts'
import { isAlive } from './pids.ts'

const pidsOf = (kubernetes: Kubernetes) => kubernetes.components.map(name => kubernetes.pid(name)!)
const podOf = (name: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: { containers: [{ name: 'main', image: 'nowhere' }], ...more },
})

interface Pod {
  readonly spec: { readonly nodeName?: string }
  readonly status: {
    readonly phase?: string
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
    readonly containerStatuses?: readonly { readonly restartCount: number; readonly state: object }[]
  }
}
const getPod = (kubernetes: Kubernetes, name: string) =>
  kubernetes.request<Pod>('GET', `/api/v1/namespaces/default/pods/${name}`)
const readyOf = (pod: Pod) => pod.status.conditions?.find(({ type }) => type === 'Ready')?.status

test('two control planes run at the same time and are independent', async () => {
  const [first, second] = await Promise.all([startKubernetes({ nodes: 1 }), startKubernetes({ nodes: 2 })])
  await using _first = first
  await using _second = second
  assert.notEqual(first.server, second.server)
  const nodes = async (kubernetes: Kubernetes) =>
    (await kubernetes.kubectl('get', 'nodes', '-o', 'name')).stdout.trim().split('\n').length
  assert.deepEqual([await nodes(first), await nodes(second)], [1, 2])
  const stranger = await first.kubectl('get', 'nodes', { kubeconfig: second.kubeconfigFor({ user: 'x' }) })
  assert.notEqual(stranger.code, 0)

  const pids = pidsOf(first)
  await first.stop()
  assert.ok(pids.every(pid => !isAlive(pid)))
  assert.ok(!existsSync(first.directory))
  assert.equal(await nodes(second), 2)
})

test('with the feature gates of native gangs, pod groups are served and scheduled', async () => {
  await using kubernetes = await startKubernetes({ nodes: 2, ...nativeGangs })
  const { stdout } = await kubernetes.kubectl('api-resources', '--api-group=scheduling.k8s.io', '-o', 'name')
  for (const resource of ['workloads', 'podgroups', 'compositepodgroups'])
    assert.match(stdout, new RegExp(`^${resource}\\.`, 'm'))

  await kubernetes.apply({
    apiVersion: 'scheduling.k8s.io/v1beta1',
    kind: 'PodGroup',
    metadata: { name: 'gang', namespace: 'default' },
    spec: { schedulingPolicy: { gang: { minCount: 2 } } },
  })
  const member = (name: string) => podOf(name, { schedulingGroup: { podGroupName: 'gang' } })
  await kubernetes.apply(member('a'))
  const runs = (name: string) =>
    waitFor(`${name} to run`, async () => (await getPod(kubernetes, name)).status.phase === 'Running')
  // The scheduler handled the incomplete gang before it scheduled the pod that was created later.
  await kubernetes.apply(podOf('free'))
  await runs('free')
  assert.equal((await getPod(kubernetes, 'a')).spec.nodeName, undefined)
  await kubernetes.apply(member('b'))
  await runs('a')
  await runs('b')
})

test('with gated stages, annotations make pods Ready and fail', async () => {
  await using kubernetes = await startKubernetes({ nodes: 1, stages: gatedStages })
  await kubernetes.apply(podOf('gated'))
  const running = await waitFor('the pod to run', async () => {
    const pod = await getPod(kubernetes, 'gated')
    return pod.status.phase === 'Running' && pod
  })
  assert.equal(readyOf(running), 'False')
  const annotate = (key: string, value: string | null) =>
    kubernetes.request('PATCH', '/api/v1/namespaces/default/pods/gated', {
      body: { metadata: { annotations: { [key]: value } } },
      contentType: 'application/merge-patch+json',
    })
  const until = (what: string, check: (pod: Pod) => boolean) =>
    waitFor(what, async () => check(await getPod(kubernetes, 'gated')))

  await annotate(readyAnnotation, 'true')
  await until('the pod to be Ready', pod => readyOf(pod) === 'True')
  await annotate(readyAnnotation, 'false')
  await until('the pod to be unready', pod => readyOf(pod) === 'False')
  await annotate(readyAnnotation, 'true')
  await until('the pod to be Ready again', pod => readyOf(pod) === 'True')
  await annotate(failAnnotation, 'crash')
  await until('the container to crash', pod => 'waiting' in (pod.status.containerStatuses?.[0]?.state ?? {}))
  await annotate(failAnnotation, null)
  await until('the container to recover', pod => readyOf(pod) === 'True')
  assert.equal((await getPod(kubernetes, 'gated')).status.containerStatuses?.[0]?.restartCount, 1)
  await annotate(failAnnotation, 'exit')
  await until('the pod to fail', pod => pod.status.phase === 'Failed')
})

test('components can be omitted, and nodes are Ready without them', async () => {
  await using kubernetes = await startKubernetes({
    nodes: 2,
    controllers: false,
    scheduler: false,
    kwok: false,
  })
  assert.deepEqual(kubernetes.components, ['etcd', 'kube-apiserver'])
  const { stdout } = await kubernetes.kubectl('get', 'nodes', '--no-headers')
  assert.equal(stdout.match(/^node-\d+\s+Ready\s/gm)?.length, 2)
  await kubernetes.newNamespace()
  await kubernetes.apply(podOf('waiting'))
  assert.equal((await getPod(kubernetes, 'waiting')).spec.nodeName, undefined)
  assert.throws(() => kubernetes.logs('kwok'), /not part of this control plane/)
})

test('given data and log directories are kept after the end', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'grove-kept-'))
  try {
    const options = {
      controllers: false,
      scheduler: false,
      dataDirectory: join(directory, 'data'),
      logDirectory: join(directory, 'logs'),
      nodes: 1,
    }
    const first = await startKubernetes(options)
    const namespace = await first.newNamespace('kept')
    await first.stop()
    await using second = await startKubernetes(options)
    assert.equal((await second.kubectl('get', 'namespace', namespace)).code, 0)
    assert.ok(readFileSync(join(directory, 'logs', 'kube-apiserver.log')).length > 0)
  } finally {
    rmSync(directory, { recursive: true })
  }
})

test('the error of a component that does not start contains the end of its log, and nothing is left behind', async () => {
  const started = startKubernetes({ flags: { 'kube-scheduler': ['--no-such-flag'] }, nodes: 1 })
  await assert.rejects(started, (error: unknown) => {
    assert.ok(error instanceof StartError)
    assert.equal(error.component, 'kube-scheduler')
    assert.match(error.message, /unknown flag: --no-such-flag/)
    return true
  })
})
