// SPDX-License-Identifier: Apache-2.0

// Tests a release whose certificates cert-manager or an administrator provides, on a real control plane. cert-manager
// itself does not run: the test issues Certificates and injects authorities in its place.
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { connect } from 'node:tls'
import { createAuthority } from '@grove/kube'
import { buildHelm, freePorts, type Kubernetes, startKubernetes, waitFor } from '@grove/test-kubernetes'
import {
  adminClient,
  admissionsPerSecond,
  admitSets,
  type OperatorProcess,
  ServiceProxy,
} from '@grove/test-scenarios'
import { ImageFiles } from './image-process.ts'
import { servicesToThisMachine } from './post-renderer.ts'
import { ReleasedOperator } from './released-operator.ts'
import { at, chartFolder, type Rendered, release, valuesFlags } from './rendered-chart.ts'

const where = ['--namespace', release.namespace]
const manualSecretName = 'certificate-of-others'
const ownSecretName = 'grove-webhook-server-cert'
/** Kubernetes sends SIGTERM to a pod first. Services of a busy cluster still route to the pod for this time. */
const endpointLagMs = 2_000
const inject = 'cert-manager.io/inject-ca-from'
let authorities = 0

/** The two kinds of cert-manager that the chart uses. The schemas accept every object. */
const certManagerDefinitions = ['Certificate', 'Issuer'].map(kind => {
  const singular = kind.toLowerCase()
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${singular}s.cert-manager.io` },
    spec: {
      group: 'cert-manager.io',
      scope: 'Namespaced',
      names: { kind, plural: `${singular}s`, singular, listKind: `${kind}List` },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  }
})

describe('a release with manual certificates', () => {
  const images = new ImageFiles()
  let kubernetes: Kubernetes
  let released: ReleasedOperator
  let operator: OperatorProcess | undefined
  let ports: OperatorProcess['ports']

  before(async () => {
    await images.build()
    kubernetes = await startKubernetes({ nodes: 2 })
    released = new ReleasedOperator(kubernetes, images)
    ports = await replicaPorts()
  })
  after(async () => {
    operator?.kill()
    await kubernetes?.stop()
    images.remove()
  })

  test('serves the certificate of the Secret, and writes neither the Secret nor the webhook configurations', async () => {
    await install({
      config: { server: server({ certProvisionMode: 'manual' }) },
      webhooks: { caBundle: Buffer.from(kubernetes.ca).toString('base64') },
    })
    const { cert, key } = kubernetes.servingCertificate(`grove-operator.${release.namespace}.svc`)
    await writeSecret({ 'tls.crt': cert, 'tls.key': key, 'ca.crt': kubernetes.ca })
    await mountSecret()
    operator = await released.start(ports)
    const before = await versions()
    await admitsSets()
    assert.deepEqual(await versions(), before)
    assert.doesNotMatch(operator.output, /forbidden/i)
  })

  test('serves the certificate that cert-manager issues, and the next one after its renewal', async () => {
    operator?.kill()
    await kubernetes.apply(certManagerDefinitions)
    await kubernetes.kubectl('wait', '--for=condition=Established', 'crd', '--all')
    await kubernetes.kubectl('delete', 'secret', manualSecretName, ...where)
    await install({ certManager: { enabled: true }, config: { server: server() } })
    const [mutating] = (await configurations('mutating')).map(({ metadata }) => metadata?.annotations)
    assert.equal(mutating?.[inject], `${release.namespace}/grove-webhook-server`)

    const first = await issueCertificate()
    await mountSecret()
    operator = await released.start(ports)
    assert.equal(await presentedIssuer(), first)
    await admitsSets()

    const second = await issueCertificate()
    await mountSecret()
    await waitFor('the renewed certificate', async () => (await presentedIssuer()) === second)
    await operator.untilReady()
    await admitsSets()
    assert.doesNotMatch(operator.output, /forbidden/i)
  })

  test('serves the certificate that cert-manager issues into the Secret of the operator, before and after the mode changes', async () => {
    operator?.kill()
    const webhooks = { secretName: ownSecretName }
    await install({ config: { server: server({ ...webhooks, certProvisionMode: 'auto' }) } })
    operator = await released.start(ports)
    assert.equal(await presentedIssuer(), 'Grove-CA')

    const name = `authority ${++authorities}`
    const authority = createAuthority(name)
    const service = `grove-operator.${release.namespace}.svc`
    const { cert, key } = authority.server(service, [service])
    const annotations = { 'cert-manager.io/certificate-name': ownSecretName }
    await patchSecret({ annotations }, { 'tls.crt': cert, 'tls.key': key, 'ca.crt': authority.pair.cert })
    const issued = await secretVersion()
    await waitFor('the issued certificate', async () => (await presentedIssuer()) === name)
    await operator.untilReady()
    await admitsSets()
    assert.equal(await secretVersion(), issued, 'the operator did not write the Secret')

    operator.kill()
    await install({ config: { server: server({ ...webhooks, certProvisionMode: 'manual' }) } })
    await mountSecret(ownSecretName)
    operator = await released.start(ports)
    assert.equal(await presentedIssuer(), name)
    await admitsSets()

    operator.kill()
    await kubernetes.kubectl('delete', 'secret', ownSecretName, ...where)
    await install({ config: { server: server({ ...webhooks, certProvisionMode: 'auto' }) } })
    operator = await released.start(ports)
    assert.equal(await presentedIssuer(), 'Grove-CA')
    const { metadata } = await released.json('secret', ownSecretName, ...where)
    assert.equal(metadata?.annotations, undefined)
    await admitsSets()
    assert.doesNotMatch(operator.output, /forbidden/i)
  })

  test(`a release admits ${admissionsPerSecond} sets per second while it changes to manual certificates and back`, async t => {
    operator?.kill()
    await kubernetes.kubectl('delete', 'namespace', release.namespace)
    await kubernetes.kubectl('delete', 'mutatingwebhookconfiguration,validatingwebhookconfiguration', '--all')
    const [servicePort = 0] = await freePorts(1)
    const service = await ServiceProxy.listen(servicePort)
    const client = adminClient(kubernetes)
    t.after(async () => {
      service.close()
      await client.close()
    })

    /** As a Deployment with maxSurge 1 and maxUnavailable 0. */
    async function upgrade(webhooks: object): Promise<void> {
      const old = operator
      ports = await replicaPorts()
      await install({ config: { server: server(webhooks) } }, servicePort)
      if (webhooks === manual) await mountSecret()
      operator = await released.start(ports)
      service.endpoints.add(ports.webhooks)
      if (!old) return
      const ended = old.terminate()
      await new Promise(resolve => setTimeout(resolve, endpointLagMs))
      service.endpoints.delete(old.ports.webhooks)
      assert.equal(await ended, 0, old.output)
    }
    const auto = { certProvisionMode: 'auto', secretName: ownSecretName }
    const manual = { certProvisionMode: 'manual' }
    operator = undefined
    await upgrade(auto)
    const admissions = admitSets(client, await kubernetes.newNamespace('modes'))
    t.after(() => admissions.stop())
    await admissions.untilFurther(admissionsPerSecond)

    const { cert, key } = kubernetes.servingCertificate(`grove-operator.${release.namespace}.svc`)
    await writeSecret({ 'tls.crt': cert, 'tls.key': key })
    const { data } = await released.json('secret', ownSecretName, ...where)
    const present = Buffer.from((data as Record<string, string>)['ca.crt']!, 'base64').toString()
    await publish(present + kubernetes.ca)
    await upgrade(manual)
    assert.equal(await presentedIssuer(), 'grove-test')
    await admissions.untilFurther(admissionsPerSecond)

    await upgrade(auto)
    assert.equal(await presentedIssuer(), 'Grove-CA')
    await admissions.untilFurther(admissionsPerSecond)
    // An upgrade without a change of the mode keeps the bundle that the operator wrote.
    await upgrade(auto)
    await admissions.untilFurther(admissionsPerSecond)
    t.diagnostic(`${await admissions.stop()} sets were admitted`)
    assert.deepEqual(admissions.failures, [])
  })

  async function replicaPorts(): Promise<OperatorProcess['ports']> {
    const [webhooks = 0, probes = 0, metrics = 0] = await freePorts(3)
    return { webhooks, probes, metrics }
  }

  function server(webhooks: object = {}): object {
    const bindAddress = '127.0.0.1'
    const serverCertDir = join(kubernetes.directory, 'certificate')
    return {
      webhooks: {
        bindAddress,
        port: ports.webhooks,
        serverCertDir,
        secretName: manualSecretName,
        ...webhooks,
      },
      healthProbes: { bindAddress, port: ports.probes },
      metrics: { bindAddress, port: ports.metrics },
    }
  }

  /** Issues the Certificate of the release as cert-manager does. Returns the name of the new authority. */
  async function issueCertificate(): Promise<string> {
    const certificate = await released.json('certificate.cert-manager.io', 'grove-webhook-server', ...where)
    const issuer = String(at(certificate, 'spec.issuerRef.name'))
    await released.json(
      `${at(certificate, 'spec.issuerRef.kind')}.cert-manager.io`.toLowerCase(),
      issuer,
      ...where,
    )
    assert.equal(at(certificate, 'spec.secretName'), manualSecretName)
    const [name = '', ...others] = at(certificate, 'spec.dnsNames') as string[]
    const authority = createAuthority(`authority ${++authorities}`)
    const { cert, key } = authority.server(name, [name, ...others])
    await writeSecret({ 'tls.crt': cert, 'tls.key': key, 'ca.crt': authority.pair.cert })
    await publish(authority.pair.cert, ({ metadata }) => Boolean(metadata?.annotations?.[inject]))
    return `authority ${authorities}`
  }

  /** Writes authorities (PEM) into the webhook configurations, as an administrator or cert-manager does. */
  async function publish(authorities: string, isWanted = (_: Rendered) => true): Promise<void> {
    const caBundle = Buffer.from(authorities).toString('base64')
    for (const kind of ['mutating', 'validating'])
      for (const { metadata, webhooks } of (await configurations(kind)).filter(isWanted)) {
        const patch = (webhooks as object[]).map((_, index) => {
          return { op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value: caBundle }
        })
        const resource = `${kind}webhookconfiguration/${metadata?.name}`
        const { code, stderr } = await kubernetes.kubectl(
          'patch',
          resource,
          '--type=json',
          '-p',
          JSON.stringify(patch),
        )
        assert.equal(code, 0, stderr)
      }
  }

  async function configurations(kind: string): Promise<Rendered[]> {
    return (await released.json(`${kind}webhookconfigurations`)).items as Rendered[]
  }

  /** Returns the issuer of the certificate that the operator presents. */
  function presentedIssuer(): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port: ports.webhooks, rejectUnauthorized: false }, () => {
        resolve(String(socket.getPeerCertificate().issuer.CN))
        socket.end()
      })
      socket.once('error', reject)
    })
  }

  /** The API server calls the webhooks: a set is defaulted. */
  async function admitsSets(): Promise<void> {
    const { code, stdout, stderr } = await kubernetes.kubectl(
      'create',
      '--dry-run=server',
      '-o',
      'json',
      '-n',
      'default',
      '-f',
      '-',
      { input: manifest },
    )
    assert.equal(code, 0, stderr)
    assert.equal(at(JSON.parse(stdout), 'spec.template.terminationDelay'), '4h0m0s')
  }

  async function install(values: object, webhookPort?: number): Promise<void> {
    const flags = valuesFlags(kubernetes.directory, values)
    const renderer = ['--post-renderer', servicesToThisMachine(kubernetes.directory, webhookPort)]
    const args = [
      'upgrade',
      '--install',
      release.name,
      chartFolder,
      '--create-namespace',
      ...where,
      ...flags,
      ...renderer,
    ]
    const { code, stderr } = await (await buildHelm()).run(args, { kubeconfig: kubernetes.kubeconfig })
    assert.equal(code, 0, stderr)
  }

  async function writeSecret(stringData: object): Promise<void> {
    await kubernetes.apply({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: manualSecretName, namespace: release.namespace },
      type: 'kubernetes.io/tls',
      stringData,
    })
  }

  /** Changes the Secret of the operator as cert-manager does: it keeps what it does not set. */
  async function patchSecret(metadata: object, stringData: object): Promise<void> {
    const patch = JSON.stringify({ metadata, stringData })
    const args = ['patch', 'secret', ownSecretName, '--type=merge', '-p', patch, ...where]
    const { code, stderr } = await kubernetes.kubectl(...args)
    assert.equal(code, 0, stderr)
  }

  async function secretVersion(): Promise<string | undefined> {
    return (await released.json('secret', ownSecretName, ...where)).metadata?.resourceVersion
  }

  /** Writes the files of the Secret volume to the mount path of the container, as the kubelet does. */
  async function mountSecret(secretName = manualSecretName): Promise<void> {
    const deployment = await released.json('deployment', 'grove-operator', ...where)
    const volumes = at(deployment, 'spec.template.spec.volumes') as Rendered[]
    const mounts = at(deployment, 'spec.template.spec.containers.0.volumeMounts') as Rendered[]
    const volume = volumes.find(({ secret }) => at(secret, 'secretName') === secretName)
    const mount = mounts.find(({ name }) => name === volume?.name)
    const folder = String(mount?.mountPath)
    const { data } = await released.json('secret', secretName, ...where)
    chmodSync(kubernetes.directory, 0o755)
    mkdirSync(folder, { recursive: true })
    for (const { key, path } of at(volume, 'secret.items') as { key: string; path: string }[]) {
      writeFileSync(join(folder, `.${path}`), Buffer.from((data as Record<string, string>)[key]!, 'base64'))
      renameSync(join(folder, `.${path}`), join(folder, path))
    }
  }

  async function versions(): Promise<(string | undefined)[]> {
    const objects = await Promise.all([
      released.json('secret', manualSecretName, ...where),
      released.json('mutatingwebhookconfiguration', 'podcliqueset-defaulting-webhook'),
      released.json('validatingwebhookconfiguration', 'podcliqueset-validating-webhook'),
    ])
    return objects.map(({ metadata }) => metadata?.resourceVersion)
  }
})

const manifest = `apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: demo}
spec:
  replicas: 1
  template:
    cliques:
      - name: web
        spec: {roleName: web, replicas: 2, podSpec: {containers: [{name: main, image: "registry.example/web:1"}]}}
`
