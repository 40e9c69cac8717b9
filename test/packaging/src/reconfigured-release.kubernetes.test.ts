// SPDX-License-Identifier: Apache-2.0

// Changes the configuration of a release with `helm upgrade --reuse-values`, as tools do that know the values of the Go
// operator's chart: they set whole sections, and null where they set nothing. The pods of the release are simulated.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { customResourceDefinitions } from '@grove/api'
import { buildHelm, type Helm, type Kubernetes, startKubernetes, waitFor } from '@grove/test-kubernetes'
import { at, chartFolder, configurationOf, type Rendered, release, valuesFlags } from './rendered-chart.ts'

const where = ['--namespace', release.namespace]
const digest = `sha256:${'0'.repeat(64)}`
const inject = 'cert-manager.io/inject-ca-from'

const installed = {
  replicaCount: 1,
  image: { repository: 'registry.example/grove-operator', tag: `v1@${digest}` },
  crdInstaller: { image: { repository: 'registry.example/grove-install-crds', tag: `v1@${digest}` } },
  deployment: { env: [{ name: 'GROVE_INIT_CONTAINER_IMAGE', value: 'registry.example/grove-initc' }] },
  config: {
    leaderElection: { enabled: false },
    scheduler: { defaultProfileName: 'kai-scheduler', profiles: [{ name: 'kai-scheduler' }] },
    topologyAwareScheduling: { enabled: true },
  },
}

/** The sections that such a tool writes, with zero values where it has none. */
function section(webhooks: object, annotations: object | null, crdInstaller: boolean) {
  return {
    crdInstaller: { enabled: crdInstaller },
    config: {
      server: {
        webhooks: {
          bindAddress: '',
          port: 9443,
          serverCertDir: '/etc/grove-operator/webhook-certs',
          ...webhooks,
        },
        healthProbes: { enable: true, port: 9444 },
      },
    },
    webhooks: Object.fromEntries(
      [
        'podCliqueSetValidationWebhook',
        'podCliqueSetDefaultingWebhook',
        'clusterTopologyValidationWebhook',
        'authorizerWebhook',
      ].map(name => [name, { annotations }]),
    ),
  }
}

describe('a release that is reconfigured', () => {
  let helm: Helm
  let kubernetes: Kubernetes

  before(async () => {
    helm = await buildHelm()
    kubernetes = await startKubernetes({ nodes: 1 })
  })
  after(() => kubernetes?.stop())

  test('is installed with one operator, and its CRDs are served', async () => {
    await helmRun('install', installed, '--create-namespace', '--wait')
    await readyPod()
    for (const { metadata } of customResourceDefinitions) {
      const { status } = await json('crd', metadata!.name!)
      const conditions = at(status, 'conditions') as { type: string; status: string }[]
      assert.ok(
        conditions.some(one => one.type === 'Established' && one.status === 'True'),
        metadata!.name,
      )
    }
    assert.equal((await configuration()).scheduler.defaultProfileName, 'kai-scheduler')
  })

  test('keeps its images and its configuration if only the CRD installer is switched', async () => {
    for (const enabled of [false, true]) {
      await helmRun('upgrade', section({}, null, enabled), '--reuse-values')
      const { spec } = await readyPod(!enabled)
      const installers = (at(spec, 'initContainers') ?? []) as Rendered[]
      assert.deepEqual(
        installers.map(({ name, image }) => [name, image]),
        enabled ? [['crd-installer', `registry.example/grove-install-crds:v1@${digest}`]] : [],
      )
      assert.equal(at(spec, 'containers.0.image'), `registry.example/grove-operator:v1@${digest}`)
      const { server, scheduler, topologyAwareScheduling } = await configuration()
      assert.equal(server.webhooks.certProvisionMode, 'auto')
      assert.equal(server.webhooks.secretName, 'grove-webhook-server-cert')
      assert.equal(scheduler.defaultProfileName, 'kai-scheduler')
      assert.equal(topologyAwareScheduling.enabled, true)
    }
  })

  test('has the annotations of an injector while its certificates are manual', async () => {
    const secretName = 'grove-webhook-server-cert'
    const annotations = { [inject]: `${release.namespace}/${secretName}` }
    const manual = section({ certProvisionMode: 'manual', secretName }, annotations, true)
    await helmRun('upgrade', manual, '--reuse-values')
    assert.deepEqual(await injected(), Array(3).fill(annotations[inject]))
    const { spec } = await readyPod()
    const volumes = at(spec, 'volumes') as Rendered[]
    assert.ok(volumes.some(({ secret }) => at(secret, 'secretName') === secretName))

    await helmRun('upgrade', section({ certProvisionMode: 'auto', secretName }, null, true), '--reuse-values')
    assert.deepEqual(await injected(), Array(3).fill(undefined))
    assert.equal((await configuration()).server.webhooks.certProvisionMode, 'auto')
  })

  async function helmRun(command: string, values: object, ...args: string[]): Promise<void> {
    const flags = valuesFlags(kubernetes.directory, values)
    const { code, stderr } = await helm.run(
      [command, release.name, chartFolder, ...where, ...flags, ...args],
      { kubeconfig: kubernetes.kubeconfig },
    )
    assert.equal(code, 0, stderr)
  }

  async function json(...args: string[]): Promise<Rendered> {
    const { code, stdout, stderr } = await kubernetes.kubectl('get', ...args, '-o', 'json')
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout) as Rendered
  }

  /** Waits until the namespace has exactly one pod, which is ready and has the init container or not. */
  async function readyPod(withoutInstaller = false): Promise<Rendered> {
    let pod: Rendered | undefined
    await waitFor('one ready operator', async () => {
      const pods = (await json('pods', ...where)).items as Rendered[]
      pod = pods[0]
      const conditions = (at(pod, 'status.conditions') ?? []) as { type: string; status: string }[]
      return (
        pods.length === 1 &&
        pod?.metadata?.labels?.['app.kubernetes.io/name'] === 'grove-operator' &&
        (at(pod, 'spec.initContainers') === undefined) === withoutInstaller &&
        conditions.some(one => one.type === 'Ready' && one.status === 'True')
      )
    })
    return pod!
  }

  /** The configuration that the operator of the release reads, through the volume of its Deployment. */
  async function configuration() {
    const deployment = await json('deployment', 'grove-operator', ...where)
    const volumes = at(deployment, 'spec.template.spec.volumes') as Rendered[]
    const volume = volumes.find(({ name }) => name === 'operator-config')
    return configurationOf([await json('configmap', String(at(volume, 'configMap.name')), ...where)])
  }

  async function injected(): Promise<(string | undefined)[]> {
    const objects = await Promise.all([
      json('mutatingwebhookconfiguration', 'podcliqueset-defaulting-webhook'),
      json('validatingwebhookconfiguration', 'podcliqueset-validating-webhook'),
      json('validatingwebhookconfiguration', 'clustertopology-validating-webhook'),
    ])
    return objects.map(({ metadata }) => metadata?.annotations?.[inject])
  }
})
