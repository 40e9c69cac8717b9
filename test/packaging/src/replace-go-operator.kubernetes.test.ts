// SPDX-License-Identifier: Apache-2.0

// Tests helm upgrade from a release of the Go operator's chart. That chart is not part of this repository. The test
// builds a release that follows the contract: the same names and selectors, and a certificate Secret that Helm manages.
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import {
  buildHelm,
  freePorts,
  type Helm,
  type Kubernetes,
  startKubernetes,
  waitFor,
} from '@grove/test-kubernetes'
import type { OperatorProcess } from '@grove/test-scenarios'
import { ImageFiles } from './image-process.ts'
import { servicesToThisMachine } from './post-renderer.ts'
import { ReleasedOperator } from './released-operator.ts'
import {
  at,
  chartFolder,
  named,
  type Rendered,
  release,
  renderedObjects,
  valuesFlags,
} from './rendered-chart.ts'

const where = ['--namespace', release.namespace]
/** The values of the Go operator's chart: no installer, plain metrics, one replica. */
const goDefaults = { replicaCount: 1, crdInstaller: { enabled: false }, aggregatedRoles: { enabled: false } }
const caOfGoOperator = Buffer.from('authority of the Go operator').toString('base64')

describe('a release of the Go operator', () => {
  const images = new ImageFiles()
  let helm: Helm
  let kubernetes: Kubernetes
  let released: ReleasedOperator
  let operator: OperatorProcess | undefined
  let ports: OperatorProcess['ports']
  let values: object

  before(async () => {
    await images.build()
    helm = await buildHelm()
    kubernetes = await startKubernetes({ nodes: 2 })
    released = new ReleasedOperator(kubernetes, images)
    const [webhooks = 0, probes = 0, metrics = 0] = await freePorts(3)
    ports = { webhooks, probes, metrics }
    const bindAddress = '127.0.0.1'
    const server = {
      webhooks: { bindAddress, port: webhooks },
      healthProbes: { bindAddress, port: probes },
      metrics: { bindAddress, port: metrics, secure: false },
    }
    values = { ...goDefaults, config: { server } }
    await helmRun('install', release.name, await goChart(), '--create-namespace')
  })
  after(async () => {
    operator?.kill()
    await kubernetes?.stop()
    images.remove()
  })

  test('becomes a release of this operator, with the same Deployment and recreated certificates', async () => {
    await certificatesOfGoOperator()
    const deployment = await released.json('deployment', 'grove-operator', ...where)
    const flags = valuesFlags(kubernetes.directory, { ...values, crdInstaller: { enabled: true } })
    await helmRun('upgrade', release.name, chartFolder, '--wait', ...flags)
    const upgraded = await released.json('deployment', 'grove-operator', ...where)
    assert.equal(upgraded.metadata?.uid, deployment.metadata?.uid, 'it was updated, not replaced')
    operator = await released.start(ports)
    const secret = await released.json('secret', 'grove-webhook-server-cert', ...where)
    assert.match(text(secret, 'tls.crt'), /BEGIN CERTIFICATE/)
    assert.equal(secret.metadata?.labels?.['app.kubernetes.io/managed-by'], undefined)
    await waitFor('the webhooks to trust the new authority', async () => {
      const hooks = await released.json('validatingwebhookconfiguration', 'podcliqueset-validating-webhook')
      const bundle = Buffer.from(String(at(hooks, 'webhooks.0.clientConfig.caBundle')), 'base64').toString()
      return bundle.includes(text(secret, 'ca.crt').trim())
    })
    const { code, stderr } = await kubernetes.kubectl('apply', '-n', 'default', '-f', '-', {
      input: manifest,
    })
    assert.equal(code, 0, stderr)
    await waitFor('the set to be available', async () => {
      const { status } = await released.json('pcs', 'demo', '-n', 'default')
      return at(status, 'availableReplicas') === 1
    })
    assert.doesNotMatch(operator.output, /forbidden/i)
  })

  /** A chart of that name whose templates are fixed objects. */
  async function goChart(): Promise<string> {
    const objects = await renderedObjects(helm, { values })
    const configMap = named(objects, 'ConfigMap')
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'grove-webhook-server-cert', namespace: release.namespace },
      type: 'kubernetes.io/tls',
      data: { 'tls.crt': '', 'tls.key': '' },
    }
    const folder = join(kubernetes.directory, 'go-operator')
    mkdirSync(join(folder, 'templates'), { recursive: true })
    writeFileSync(join(folder, 'Chart.yaml'), 'apiVersion: v2\nname: grove-charts\nversion: 0.1.0-alpha.9\n')
    const renamed = JSON.stringify([...objects.filter(({ kind }) => kind !== 'Pod'), secret])
      .replaceAll(configMap.metadata!.name!, 'grove-operator-cm-0a1b2c3d')
      .replaceAll('grove-operator:v0.1.0-dev', 'grove-operator:v0.1.0-alpha.9')
    for (const [index, object] of (JSON.parse(renamed) as Rendered[]).entries())
      writeFileSync(join(folder, 'templates', `${index}.yaml`), JSON.stringify(object))
    return folder
  }

  /** Fills the Secret and a caBundle as the Go operator does after its installation. */
  async function certificatesOfGoOperator(): Promise<void> {
    const data = { 'tls.crt': 'Y3J0', 'tls.key': 'a2V5', 'ca.crt': caOfGoOperator, 'ca.key': 'a2V5' }
    const secret = [
      'patch',
      'secret',
      'grove-webhook-server-cert',
      '--type=merge',
      '-p',
      JSON.stringify({ data }),
    ]
    assert.equal((await kubernetes.kubectl(...secret, ...where)).code, 0)
    // Only PEM is accepted as caBundle, so the authority of this control plane represents that of the Go operator.
    const caBundle = Buffer.from(kubernetes.ca).toString('base64')
    const patch = JSON.stringify([{ op: 'add', path: '/webhooks/0/clientConfig/caBundle', value: caBundle }])
    const hooks = [
      'validatingwebhookconfiguration',
      'podcliqueset-validating-webhook',
      '--type=json',
      '-p',
      patch,
    ]
    const { code, stderr } = await kubernetes.kubectl('patch', ...hooks)
    assert.equal(code, 0, stderr)
  }

  async function helmRun(...args: string[]): Promise<void> {
    const renderer = ['--post-renderer', servicesToThisMachine(kubernetes.directory)]
    const { code, stderr } = await helm.run([...args, ...renderer, ...where], {
      kubeconfig: kubernetes.kubeconfig,
    })
    assert.equal(code, 0, stderr)
  }
})

function text(secret: Rendered, key: string): string {
  return Buffer.from((secret.data as Record<string, string>)[key] ?? '', 'base64').toString()
}

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
