// SPDX-License-Identifier: Apache-2.0

// A real API server calls the webhooks with issued certificates, and continues while they are replaced.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Kubernetes, startKubernetes, waitFor } from '@grove/test-kubernetes'
import { loadKubeconfig } from '../auth/index.ts'
import { WatchCache } from '../cache/index.ts'
import { emptyBundle } from '../certificates/bundle.ts'
import { carryOutRenewal } from '../certificates/decision.ts'
import {
  CertificateProvisioner,
  type CertificateStore,
  certificatePolicy,
  type InjectionTarget,
  injectionStore,
  secretStore,
} from '../certificates/index.ts'
import { type Client, createClient, defineResource } from '../client/index.ts'
import { systemClock } from '../clock/index.ts'
import { type ConfigMap, configMaps } from '../testing/config-maps.ts'
import { allowed, denied, patched } from './admission.ts'
import { validating } from './review.ts'
import { WebhookServer } from './server.ts'

const webhookConfigurations = (['validating', 'mutating'] as const).map(kind =>
  defineResource({
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    resource: `${kind}webhookconfigurations`,
    kind: kind === 'validating' ? 'ValidatingWebhookConfiguration' : 'MutatingWebhookConfiguration',
    namespaced: false,
  }),
)
const secrets = defineResource({
  group: '',
  version: 'v1',
  resource: 'secrets',
  kind: 'Secret',
  namespaced: true,
})

const service = 'webhook'
const targets: InjectionTarget[] = [
  { kind: 'validating', name: 'test-validating' },
  { kind: 'mutating', name: 'test-mutating' },
]
const ending = new AbortController()
const never = ending.signal

let kubernetes: Kubernetes
let client: Client
let namespace: string
let server: WebhookServer
let store: CertificateStore
let provisioner: CertificateProvisioner
let other: CertificateProvisioner

/** Seconds instead of hours, so that the test sees a whole change of the authority. */
const policyFor = (home: string) =>
  certificatePolicy({
    authorityName: 'Test-CA',
    serverNames: [`${service}.${home}.svc`],
    propagationMs: 6_000,
    overlapMs: 6_000,
  })

before(async () => {
  kubernetes = await startKubernetes({ controllers: false, scheduler: false, kwok: false })
  client = createClient(loadKubeconfig({ path: kubernetes.kubeconfig }))
  namespace = await kubernetes.newNamespace('webhook')
  store = secretStore(client, { namespace, name: 'certificate' })
  const newProvisioner = () =>
    new CertificateProvisioner({
      store,
      injection: injectionStore(client),
      targets,
      policy: policyFor(namespace),
      clock: systemClock,
    })
  provisioner = newProvisioner()
  other = newProvisioner()
  server = new WebhookServer({
    host: '127.0.0.1',
    port: 0,
    certificates: provisioner.source,
    clock: systemClock,
  })
  server.handle(
    '/validate',
    validating(({ object }) =>
      (object as ConfigMap).data?.bad
        ? denied('data.bad: Forbidden: not here', { warnings: ['rejected with a warning'] })
        : allowed({ warnings: (object as ConfigMap).data?.old ? ['data.old is deprecated'] : [] }),
    ),
  )
  server.handle('/default', ({ object }) => {
    const { data = {}, ...rest } = object as ConfigMap
    return patched(object, { ...rest, data: { ...data, defaulted: 'yes' } })
  })
  // Both processes receive changes as in an operator.
  for (const resource of [...webhookConfigurations, secrets]) {
    const cache = new WatchCache(client, resource, resource === secrets ? { namespace } : {})
    cache.onChange(() => {
      provisioner.changed()
      other.changed()
    })
    void cache.run(ending.signal)
  }
  void provisioner.run(ending.signal)
  void other.run(ending.signal)
  await server.start(never)
  await register()
  await waitFor('both to be ready', () => provisioner.ready && other.ready)
})
after(async () => {
  ending.abort(new Error('over'))
  await server?.stop()
  await client?.close()
  await kubernetes?.stop()
})

/** A Service that leads to this machine: the API server calls localhost and verifies the Service's name. */
async function register(): Promise<void> {
  const entry = (name: string, path: string) => ({
    name,
    clientConfig: { service: { name: service, namespace, path, port: server.port } },
    rules: [
      { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE', 'UPDATE'] },
    ],
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    failurePolicy: 'Fail',
    sideEffects: 'None',
    admissionReviewVersions: ['v1', 'v1beta1'],
  })
  await kubernetes.apply([
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: service, namespace },
      spec: { type: 'ExternalName', externalName: 'localhost' },
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'test-validating' },
      webhooks: [entry('validate.test.example', '/validate')],
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'test-mutating' },
      webhooks: [entry('default.test.example', '/default')],
    },
  ])
}

const create = (name: string, data: Record<string, string> = {}) =>
  client.create(configMaps, { metadata: { namespace, name }, data }, { dryRun: true, attempts: 1 })

/** The API server sees a changed configuration a moment after it is stored. */
const working = () => waitFor('the webhooks to work', async () => Boolean(await create('probe')))

describe('webhooks of a real API server', () => {
  it('validate, default and warn', async () => {
    await working()
    assert.deepEqual((await create('good')).data, { defaulted: 'yes' })
    await assert.rejects(create('bad', { bad: 'x' }), {
      code: 'Forbidden',
      message: 'admission webhook "validate.test.example" denied the request: data.bad: Forbidden: not here',
    })
    const { stderr } = await kubernetes.kubectl(
      'create',
      'configmap',
      'old',
      '-n',
      namespace,
      '--from-literal=old=x',
    )
    assert.match(stderr, /Warning: data\.old is deprecated/)
  })

  it('have one certificate, although two processes create it', () => {
    assert.deepEqual(provisioner.source.current(), other.source.current())
  })

  it('get their caBundle back after another client removed it', async () => {
    await working()
    await kubernetes.request(
      'PATCH',
      '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/test-validating',
      {
        body: [{ op: 'replace', path: '/webhooks/0/clientConfig/caBundle', value: 'Cg==' }],
        contentType: 'application/json-patch+json',
      },
    )
    await working()
  })

  it('work without a gap while authority and certificate are replaced', async () => {
    await working()
    const failures: unknown[] = []
    let count = 0
    let over = false
    const load = async () => {
      while (!over) {
        await create(`load-${count++}`).catch(error => failures.push(error))
        await new Promise(resolve => setTimeout(resolve, 10))
      }
    }
    const loads = [load(), load()]
    const certificate = provisioner.source.current()?.cert
    const authorities = async () => (await store.read(never))!.bundle.authorityCerts.split('BEGIN').length - 1
    // The loss of the key makes a new authority due.
    const stored = (await store.read(never))!
    assert.equal(await store.replace(stored, { ...stored.bundle, authorityKey: '' }, never), 'written')
    await waitFor('the new authority to be published', async () => (await authorities()) === 2)
    await waitFor('the new certificate', () => provisioner.source.current()?.cert !== certificate)
    await waitFor('the old authority to be retired', async () => (await authorities()) === 1)
    const atRetirement = count
    await waitFor('more requests', () => count > atRetirement + 50)
    over = true
    await Promise.all(loads)
    assert.deepEqual(failures, [])
    assert.deepEqual(provisioner.source.current(), other.source.current())
  })

  it('recover when the Secret and the caBundles are lost', async () => {
    await working()
    const stored = (await store.read(never))!
    await store.replace(stored, emptyBundle, never)
    await waitFor('a new bundle', async () => (await store.read(never))!.bundle.serverCert !== '')
    await working()
  })

  it('continue with RSA certificates that were stored before', async () => {
    const policy = { ...policyFor(namespace), key: 'rsa-2048' as const }
    const rsa = await carryOutRenewal(emptyBundle, { kind: 'renew-all', why: 'test' }, policy, Date.now())
    const stored = (await store.read(never))!
    await store.replace(stored, rsa, never)
    await waitFor(
      'the stored certificate to be served',
      () => provisioner.source.current()?.cert === rsa.serverCert,
    )
    await working()
    assert.deepEqual((await store.read(never))!.bundle, rsa)
  })
})
