// SPDX-License-Identifier: Apache-2.0

// A release whose certificates cert-manager or an administrator provides, on a real control plane.
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { buildHelm, freePorts, type Kubernetes, startKubernetes } from '@grove/test-kubernetes'
import type { OperatorProcess } from '@grove/test-scenarios'
import { ImageFiles } from './image-process.ts'
import { servicesToThisMachine } from './post-renderer.ts'
import { ReleasedOperator } from './released-operator.ts'
import { at, chartFolder, type Rendered, release, valuesFlags } from './rendered-chart.ts'

const where = ['--namespace', release.namespace]
const secretName = 'certificate-of-others'

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
    const [webhooks = 0, probes = 0, metrics = 0] = await freePorts(3)
    ports = { webhooks, probes, metrics }
  })
  after(async () => {
    operator?.kill()
    await kubernetes?.stop()
    images.remove()
  })

  test('serves the certificate of the Secret, and writes neither the Secret nor the webhook configurations', async () => {
    const folder = join(kubernetes.directory, 'certificate')
    const bindAddress = '127.0.0.1'
    const values = {
      config: {
        server: {
          webhooks: {
            bindAddress,
            port: ports.webhooks,
            certProvisionMode: 'manual',
            serverCertDir: folder,
            secretName,
          },
          healthProbes: { bindAddress, port: ports.probes },
          metrics: { bindAddress, port: ports.metrics },
        },
      },
      webhooks: { caBundle: Buffer.from(kubernetes.ca).toString('base64') },
    }
    await install(values)
    await createSecret()
    await mountSecret()
    operator = await released.start(ports)
    const before = await versions()
    const { code, stderr } = await kubernetes.kubectl('apply', '-n', 'default', '-f', '-', {
      input: manifest,
    })
    assert.equal(code, 0, stderr)
    const { spec } = await released.json('pcs', 'demo', '-n', 'default')
    assert.equal(at(spec, 'template.terminationDelay'), '4h0m0s')
    assert.deepEqual(await versions(), before)
    assert.doesNotMatch(operator.output, /forbidden/i)
  })

  async function install(values: object): Promise<void> {
    const flags = valuesFlags(kubernetes.directory, values)
    const renderer = ['--post-renderer', servicesToThisMachine(kubernetes.directory)]
    const words = [
      'install',
      release.name,
      chartFolder,
      '--create-namespace',
      ...where,
      ...flags,
      ...renderer,
    ]
    const { code, stderr } = await (await buildHelm()).run(words, { kubeconfig: kubernetes.kubeconfig })
    assert.equal(code, 0, stderr)
  }

  async function createSecret(): Promise<void> {
    const { cert, key } = kubernetes.servingCertificate(`grove-operator.${release.namespace}.svc`)
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: secretName, namespace: release.namespace },
      type: 'kubernetes.io/tls',
      stringData: { 'tls.crt': cert, 'tls.key': key, 'ca.crt': kubernetes.ca },
    }
    await kubernetes.apply(secret)
  }

  /** Writes the files of the Secret volume to where the container mounts it, as the kubelet does. */
  async function mountSecret(): Promise<void> {
    const deployment = await released.json('deployment', 'grove-operator', ...where)
    const volumes = at(deployment, 'spec.template.spec.volumes') as Rendered[]
    const mounts = at(deployment, 'spec.template.spec.containers.0.volumeMounts') as Rendered[]
    const volume = volumes.find(({ secret }) => at(secret, 'secretName') === secretName)
    const mount = mounts.find(({ name }) => name === volume?.name)
    const folder = String(mount?.mountPath)
    const { data } = await released.json('secret', secretName, ...where)
    chmodSync(kubernetes.directory, 0o755)
    mkdirSync(folder)
    for (const { key, path } of at(volume, 'secret.items') as { key: string; path: string }[])
      writeFileSync(join(folder, path), Buffer.from((data as Record<string, string>)[key]!, 'base64'))
  }

  async function versions(): Promise<(string | undefined)[]> {
    const objects = await Promise.all([
      released.json('secret', secretName, ...where),
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
