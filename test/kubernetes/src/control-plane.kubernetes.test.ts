// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import { after, before, test } from 'node:test'
import { type Kubernetes, serviceAccount, startKubernetes, waitFor } from './index.ts'

interface Listed<T> {
  readonly items: readonly T[]
}
interface Pod {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly nodeName?: string }
  readonly status: { readonly phase?: string; readonly podIP?: string }
}
interface Node {
  readonly metadata: { readonly labels: Record<string, string> }
  readonly status: { readonly capacity: Record<string, string> }
}

let kubernetes: Kubernetes

before(async () => {
  kubernetes = await startKubernetes({ nodes: 30, gpus: 8 })
})
after(() => kubernetes?.stop())

const podsOf = (namespace: string) =>
  kubernetes.request<Listed<Pod>>('GET', `/api/v1/namespaces/${namespace}/pods`)

function deployment(namespace: string, replicas: number): object {
  const labels = { app: 'web' }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'nowhere/web' }] } },
    },
  }
}

test('30 nodes with GPUs and a topology are Ready', async () => {
  const { stdout } = await kubernetes.kubectl('get', 'nodes', '--no-headers')
  const lines = stdout.trim().split('\n')
  assert.equal(lines.length, 30)
  for (const line of lines) assert.match(line, /^node-\d{3}\s+Ready\s/)
  const { items } = await kubernetes.request<Listed<Node>>('GET', '/api/v1/nodes')
  assert.ok(items.every(({ status }) => status.capacity['nvidia.com/gpu'] === '8'))
  const racks = new Set(items.map(({ metadata }) => metadata.labels['kubernetes.io/rack']))
  assert.equal(racks.size, 8)
})

test('every component has the version of go.mod', async () => {
  const { stdout } = await kubernetes.kubectl('version', '-o', 'json')
  const { clientVersion, serverVersion } = JSON.parse(stdout)
  assert.equal(clientVersion.gitVersion, kubernetes.version)
  assert.equal(serverVersion.gitVersion, kubernetes.version)
})

test('the pods of a Deployment are scheduled and run, and the garbage collector deletes them with it', async () => {
  const namespace = await kubernetes.newNamespace()
  await kubernetes.apply(deployment(namespace, 10))
  const pods = await waitFor('ten running pods', async () => {
    const { items } = await podsOf(namespace)
    return items.length === 10 && items.every(pod => pod.status.phase === 'Running') && items
  })
  for (const pod of pods) {
    assert.match(pod.spec.nodeName ?? '', /^node-\d{3}$/)
    assert.match(pod.status.podIP ?? '', /^198\.1[89]\./)
  }
  const rollout = await kubernetes.kubectl(
    'rollout',
    'status',
    'deployment/web',
    '-n',
    namespace,
    '--timeout=120s',
  )
  assert.equal(rollout.code, 0, rollout.stderr)

  await kubernetes.request('DELETE', `/apis/apps/v1/namespaces/${namespace}/deployments/web`)
  await waitFor('the pods to be garbage collected', async () => (await podsOf(namespace)).items.length === 0)
})

test('pods can be created in a new namespace at once', async () => {
  const namespace = await kubernetes.newNamespace('mine')
  assert.match(namespace, /^mine-/)
  const pod = { metadata: { name: 'a' }, spec: { containers: [{ name: 'a', image: 'a' }] } }
  await kubernetes.request('POST', `/api/v1/namespaces/${namespace}/pods`, { body: pod })
})

test('kubectl reads standard input and returns its own error messages', async () => {
  const input = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: typed}\ndata: {a: b}\n'
  const created = await kubernetes.kubectl('create', '-f', '-', { input })
  assert.deepEqual(created, { code: 0, stdout: 'configmap/typed created\n', stderr: '' })
  const missing = await kubernetes.kubectl('get', 'configmap', 'missing')
  assert.equal(missing.code, 1)
  assert.match(missing.stderr, /NotFound/)
  await assert.rejects(kubernetes.apply('kind: Nothing\napiVersion: v1\n'), /kubectl apply failed/)
})

test('the API server reads logs from a loopback address, not from a host name', async () => {
  const namespace = await kubernetes.newNamespace()
  await kubernetes.apply(deployment(namespace, 1))
  await waitFor('a running pod', async () => (await podsOf(namespace)).items[0]?.status.phase === 'Running')
  const { stderr } = await kubernetes.kubectl('logs', 'deployment/web', '-n', namespace)
  assert.doesNotMatch(stderr, /dial|lookup|certificate/)
})

test('RBAC applies to client certificates of other identities', async () => {
  const namespace = await kubernetes.newNamespace()
  const subject = serviceAccount(namespace, 'operator')
  const identity = { kubeconfig: kubernetes.kubeconfigFor(subject) }
  const who = await kubernetes.kubectl('auth', 'whoami', '-o', 'json', identity)
  const { userInfo } = JSON.parse(who.stdout).status
  assert.equal(userInfo.username, subject.user)
  assert.deepEqual(userInfo.groups.toSorted(), ['system:authenticated', ...(subject.groups ?? [])].toSorted())

  const read = () => kubernetes.kubectl('get', 'pods', '-n', namespace, identity)
  assert.match((await read()).stderr, /Forbidden/)
  const name = `--serviceaccount=${namespace}:operator`
  await kubernetes.kubectl('create', 'rolebinding', 'view', '--clusterrole=view', name, '-n', namespace)
  await waitFor('the role to take effect', async () => (await read()).code === 0)
})

test('tokens of ServiceAccounts are issued and accepted', async () => {
  const { stdout } = await kubernetes.kubectl('create', 'token', 'default', '-n', 'default')
  const who = await kubernetes.kubectl('auth', 'whoami', '-o', 'name', `--token=${stdout.trim()}`, {
    kubeconfig: kubernetes.kubeconfigFor({ user: 'without-rights' }),
  })
  assert.equal(who.code, 0, who.stderr)
})

test('the API server reaches an external webhook through a Service of type ExternalName', async () => {
  const namespace = await kubernetes.newNamespace('hooks')
  const pair = kubernetes.servingCertificate(`guard.${namespace}.svc`)
  await using server = createServer(pair, async (incoming, outgoing) => {
    const { request } = JSON.parse((await incoming.toArray()).join(''))
    const response = { uid: request.uid, allowed: false, status: { message: 'rejected by the test' } }
    outgoing.setHeader('content-type', 'application/json')
    outgoing.end(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  await kubernetes.apply([
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'guard', namespace },
      spec: { type: 'ExternalName', externalName: 'localhost' },
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: namespace },
      webhooks: [
        {
          name: 'guard.example.com',
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
          rules: [
            { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] },
          ],
          clientConfig: {
            service: { name: 'guard', namespace, port, path: '/' },
            caBundle: Buffer.from(kubernetes.ca).toString('base64'),
          },
        },
      ],
    },
  ])
  const create = () => kubernetes.kubectl('create', 'configmap', '--dry-run=server', 'any', '-n', namespace)
  await waitFor('the webhook to reject', async () => (await create()).stderr.includes('rejected by the test'))
})

test('nodes can be added later, with the same or another shape', async () => {
  const [next] = await kubernetes.addNodes(2)
  assert.equal(next?.name, 'node-030')
  await kubernetes.addNodes([{ name: 'tiny', capacity: { cpu: '1' }, labels: { size: 'tiny' } }])
  const { stdout } = await kubernetes.kubectl('get', 'nodes', '-l', 'size=tiny', '--no-headers')
  assert.match(stdout, /^tiny\s+Ready/)
  await kubernetes.kubectl('delete', 'node', 'node-030', 'node-031', 'tiny')
})

test('every component has a process and a log', () => {
  assert.equal(kubernetes.components.length, 5)
  for (const name of kubernetes.components) {
    assert.ok(kubernetes.pid(name))
    assert.equal(kubernetes.state(name), 'running')
    assert.ok(kubernetes.logs(name).length > 0)
  }
})
