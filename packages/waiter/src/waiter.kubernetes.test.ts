// SPDX-License-Identifier: Apache-2.0

// Real processes of the bundled program, with a real token, on a real API server.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  gatedStages,
  type Kubernetes,
  readyAnnotation,
  startKubernetes,
  waitFor,
} from '@grove/test-kubernetes'
import { podCliqueLabel } from './pod.ts'
import { type RunningWaiter, WaiterHost } from './testing/waiter-host.ts'

let kubernetes: Kubernetes

before(async () => {
  kubernetes = await startKubernetes({ nodes: 4, stages: gatedStages })
})
after(() => kubernetes?.stop())

const account = 'w'

/** As the operator creates it for each PodCliqueSet: a ServiceAccount and a Secret that Kubernetes fills. */
async function newAccount(namespace: string): Promise<{ token: string; ca: string }> {
  await kubernetes.apply([
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account, namespace } },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/service-account-token',
      metadata: {
        name: `${account}-ic-sat`,
        namespace,
        annotations: { 'kubernetes.io/service-account.name': account },
      },
    },
  ])
  const data = await waitFor('the token', async () => {
    const secret = await kubernetes.request<{ data?: Record<string, string> }>(
      'GET',
      `/api/v1/namespaces/${namespace}/secrets/${account}-ic-sat`,
    )
    return secret.data?.token && secret.data['ca.crt'] ? secret.data : undefined
  })
  const decoded = (text = '') => Buffer.from(text, 'base64').toString()
  return { token: decoded(data.token), ca: decoded(data['ca.crt']) }
}

async function grantPods(namespace: string): Promise<void> {
  const metadata = { name: `grove.io:pcs:${account}`, namespace }
  await kubernetes.apply([
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata,
      rules: [{ apiGroups: [''], resources: ['pods', 'pods/status'], verbs: ['get', 'list', 'watch'] }],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name },
      subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
    },
  ])
}

async function newHost({ granted = true } = {}): Promise<{ host: WaiterHost; namespace: string }> {
  const namespace = await kubernetes.newNamespace()
  const { token, ca } = await newAccount(namespace)
  if (granted) await grantPods(namespace)
  return { host: new WaiterHost({ server: kubernetes.server, namespace, token, ca }), namespace }
}

async function createPod(namespace: string, clique: string, suffix: string, ready = false): Promise<void> {
  await kubernetes.request('POST', `/api/v1/namespaces/${namespace}/pods`, {
    body: {
      metadata: {
        name: `${clique}-${suffix}`,
        labels: { [podCliqueLabel]: clique },
        ...(ready && { annotations: { [readyAnnotation]: 'true' } }),
      },
      spec: { containers: [{ name: 'main', image: 'nowhere/main' }], terminationGracePeriodSeconds: 0 },
    },
  })
}

async function setReady(namespace: string, pod: string, ready: boolean): Promise<void> {
  await kubernetes.request('PATCH', `/api/v1/namespaces/${namespace}/pods/${pod}`, {
    contentType: 'application/merge-patch+json',
    body: { metadata: { annotations: { [readyAnnotation]: String(ready) } } },
  })
}

async function isReady(namespace: string, pod: string): Promise<boolean> {
  const { status } = await kubernetes.request<{
    status: { conditions?: { type: string; status: string }[] }
  }>('GET', `/api/v1/namespaces/${namespace}/pods/${pod}`)
  return status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
}

const says = (waiter: RunningWaiter, text: string) =>
  waitFor(`the waiter to log "${text}"`, () => waiter.output.includes(text) || undefined).catch(error => {
    throw new Error(`${error.message}; it said:\n${waiter.output}`)
  })

test('starts a chain in order: each clique when its parent has its minimum', async () => {
  const { host, namespace } = await newHost()
  await using _ = host
  for (const suffix of ['1', '2', '3']) await createPod(namespace, 'w-0-a', suffix)
  // The names of its pods look as if they belonged to w-0-a.
  await createPod(namespace, 'w-0-a-x', '1', true)
  await createPod(namespace, 'w-0-a-x', '2', true)
  await createPod(namespace, 'w-0-b', '1')
  const b = host.start('w-0-a:2')
  const c = host.start('w-0-b:1')
  await says(b, 'waiting for: w-0-a 0/2 ready')
  await says(c, 'waiting for: w-0-b 0/1 ready')
  await waitFor('the decoys', () => isReady(namespace, 'w-0-a-x-2'))

  await setReady(namespace, 'w-0-a-1', true)
  await waitFor('the first parent', () => isReady(namespace, 'w-0-a-1'))
  assert.ok(b.running && c.running)
  // Never two at once: the first becomes unready before the second becomes ready.
  await setReady(namespace, 'w-0-a-1', false)
  await waitFor('the first parent to become unready', async () => !(await isReady(namespace, 'w-0-a-1')))
  await setReady(namespace, 'w-0-a-2', true)
  await waitFor('the second parent', () => isReady(namespace, 'w-0-a-2'))
  assert.ok(b.running && c.running)

  await setReady(namespace, 'w-0-a-3', true)
  assert.equal(await b.code, 0, b.output)
  assert.match(b.output, /done: w-0-a 2\/2 ready\n$/)
  assert.ok(c.running)

  await setReady(namespace, 'w-0-b-1', true)
  assert.equal(await c.code, 0, c.output)
})

test('waits again after it was killed or stopped', async () => {
  const { host, namespace } = await newHost()
  await using _ = host
  await createPod(namespace, 'w-0-a', '1', true)
  for (const signal of ['SIGKILL', 'SIGTERM', 'SIGINT'] as const) {
    const waiter = host.start('w-0-a:1', 'w-0-b:1')
    await says(waiter, 'waiting for: w-0-b 0/1 ready')
    assert.equal(await waiter.kill(signal), signal === 'SIGKILL' ? undefined : 1)
    if (signal !== 'SIGKILL') assert.match(waiter.output, /stopped while waiting for: w-0-b 0\/1 ready\n$/)
  }
  const last = host.start('w-0-a:1', 'w-0-b:1')
  await createPod(namespace, 'w-0-b', '1', true)
  assert.equal(await last.code, 0, last.output)
})

test('waits for permissions that are granted late', async () => {
  const { host, namespace } = await newHost({ granted: false })
  await using _ = host
  await createPod(namespace, 'w-0-a', '1', true)
  const waiter = host.start('w-0-a:1')
  await says(waiter, 'cannot watch pods, trying again: 403 pods is forbidden')
  await grantPods(namespace)
  assert.equal(await waiter.code, 0, waiter.output)
})

test('waits for an API server that restarts', async () => {
  const { host, namespace } = await newHost()
  await using _ = host
  await createPod(namespace, 'w-0-a', '1')
  const waiters = Array.from({ length: 10 }, () => host.start('w-0-a:1'))
  for (const waiter of waiters) await says(waiter, 'waiting for: w-0-a 0/1 ready')
  await kubernetes.kill('kube-apiserver')
  for (const waiter of waiters) await says(waiter, 'cannot watch pods, trying again')
  const late = host.start('w-0-a:1')
  await says(late, 'ECONNREFUSED')
  await kubernetes.start('kube-apiserver')
  assert.ok([...waiters, late].every(({ running }) => running))
  await waitFor('the parent to be marked ready', async () => {
    await setReady(namespace, 'w-0-a-1', true)
    return true
  })
  for (const waiter of [...waiters, late]) assert.equal(await waiter.code, 0, waiter.output)
})

test('200 waiters cost the API server one list and one watch each', async () => {
  const count = 200
  const { host, namespace } = await newHost()
  await using _ = host
  await createPod(namespace, 'w-0-a', '1', true)
  await createPod(namespace, 'w-0-b', '1')
  const before_ = await podRequests()
  const waiters = Array.from({ length: count }, () => host.start('w-0-a:1', 'w-0-b:1'))
  for (const waiter of waiters) await says(waiter, 'waiting for: w-0-b 0/1 ready')
  await setReady(namespace, 'w-0-b-1', true)
  for (const waiter of waiters) assert.equal(await waiter.code, 0, waiter.output)
  const after_ = await podRequests()
  // The components of the control plane list and watch pods too from time to time.
  const spare = 20
  assert.ok(after_.list - before_.list <= count + spare, `${after_.list - before_.list} lists`)
  assert.ok(after_.watch - before_.watch <= count + spare, `${after_.watch - before_.watch} watches`)
})

async function podRequests(): Promise<{ list: number; watch: number }> {
  const { stdout } = await kubernetes.kubectl('get', '--raw', '/metrics')
  const lines = stdout
    .split('\n')
    .filter(line => line.startsWith('apiserver_request_total{') && line.includes('resource="pods"'))
  const sum = (verb: string) =>
    lines
      .filter(line => line.includes(`verb="${verb}"`))
      .reduce((total, line) => total + Number(line.split(' ').at(-1)), 0)
  return { list: sum('LIST'), watch: sum('WATCH') }
}
