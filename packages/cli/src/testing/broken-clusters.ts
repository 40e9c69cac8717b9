// SPDX-License-Identifier: Apache-2.0

// Tests `grove doctor` on a correct cluster and on clusters with one broken part each, with a real operator process.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { after, before, describe, test } from 'node:test'
import { type ClusterRole, type CustomResourceDefinition, customResourceDefinitions } from '@grove/api'
import { createAuthority, defineResource, type KubeObject, type WebhookConfiguration } from '@grove/kube'
import { resources } from '@grove/operator'
import { waitFor } from '@grove/test-kubernetes'
import {
  type InstalledOperator,
  installOperator,
  type OperatorHost,
  type OperatorProcess,
  operatorNamespace,
} from '@grove/test-scenarios'
import type { Finding } from '../doctor/checks.ts'
import { call } from './grove-call.ts'
import { deployOperator } from './operator-deployment.ts'

const kind = <T extends KubeObject = KubeObject>(
  group: string,
  version: string,
  resource: string,
  name: string,
  namespaced = false,
) => defineResource<T>({ group, version, resource, kind: name, namespaced })
const crds = kind<CustomResourceDefinition>(
  'apiextensions.k8s.io',
  'v1',
  'customresourcedefinitions',
  'CustomResourceDefinition',
)
const clusterRoles = kind<ClusterRole>('rbac.authorization.k8s.io', 'v1', 'clusterroles', 'ClusterRole')
const leases = kind('coordination.k8s.io', 'v1', 'leases', 'Lease', true)
const nodes = kind('', 'v1', 'nodes', 'Node')
const validating = kind<WebhookConfiguration>(
  'admissionregistration.k8s.io',
  'v1',
  'validatingwebhookconfigurations',
  'ValidatingWebhookConfiguration',
)

export function doctorTests(cluster: string, startHost: () => Promise<OperatorHost>): void {
  describe(`grove doctor on ${cluster}`, () => {
    let host: OperatorHost
    let kubeconfig: string
    let installed: InstalledOperator
    let operator: OperatorProcess

    before(async () => {
      host = await startHost()
      kubeconfig = host.kubeconfigFor({ user: 'kubernetes-admin', groups: ['system:masters'] })
    })
    after(async () => {
      operator?.kill()
      await host?.stop()
    })

    async function examined(): Promise<{ status: number | null; findings: readonly Finding[] }> {
      const { status, stdout, stderr } = await call(['doctor', '--kubeconfig', kubeconfig, '-o', 'json'])
      assert.equal(stderr, '')
      return { status, findings: JSON.parse(stdout).findings }
    }

    /** Waits until doctor reports exactly this problem, with a remedy. Caches of the API server lag behind. */
    async function untilOnly(check: string, message: RegExp): Promise<void> {
      let last: readonly Finding[] = []
      await waitFor(`${check} ${message}`, async () => {
        const { status, findings } = await examined()
        last = findings.filter(({ state }) => state === 'problem')
        const [only] = last
        return status === 1 && last.length === 1 && only!.check === check && message.test(only!.message)
      }).catch(error => assert.fail(`${error.message}: ${JSON.stringify(last, null, 2)}`))
      assert.ok(last[0]?.fix)
    }

    async function untilHealthy(): Promise<void> {
      let last: readonly Finding[] = []
      await waitFor('a healthy cluster', async () => {
        const { status, findings } = await examined()
        last = findings
        return status === 0 && findings.every(({ state }) => state === 'ok')
      }).catch(error => assert.fail(`${error.message}: ${JSON.stringify(last, null, 2)}`))
    }

    const deploy = (configuration: object | string, ready?: number) =>
      deployOperator(host, configuration, ready)
    const configured = () => JSON.parse(readFileSync(installed.launch.config, 'utf8')) as object

    test('names missing CRDs', () => untilOnly('CRDs', /podcliquesets\.grove\.io.* do not exist/))

    test('names a field that CRDs of an older version drop', async () => {
      const [first, ...others] = structuredClone(customResourceDefinitions) as CustomResourceDefinition[]
      const { properties } = first!.spec.versions[0]!.schema!.openAPIV3Schema as {
        properties: { spec: { properties: Record<string, unknown> } }
      }
      const [field = ''] = Object.keys(properties.spec.properties)
      delete properties.spec.properties[field]
      await host.apply([first!, ...others])
      await untilOnly(
        'CRDs',
        new RegExp(`is of an older version, the API server drops v1alpha1: spec\\.${field}`),
      )
      // Applied as another manager: server-side apply removes the field of its own manager only.
      await host.client.delete(crds, { name: first!.metadata.name ?? '' })
      await waitFor(
        'the CRD to be deleted',
        async () => (await host.client.find(crds, { name: first!.metadata.name ?? '' })) === undefined,
      )
    })

    test('reports an operator that was never started', async () => {
      installed = await installOperator(host)
      await deploy(configured())
      await untilOnly('Operator', /the Lease grove-system\/grove-operator-leader-election does not exist/)
    })

    test('reports no problem on a correct cluster', async () => {
      operator = await installed.start()
      await untilHealthy()
    })

    test('reports a missing namespace as such, not as a problem of the webhooks', async () => {
      const { stdout } = await call(['doctor', '-n', 'nowhere', '--kubeconfig', kubeconfig])
      assert.match(stdout, /^\? Admission: namespace nowhere does not exist; name another one with -n$/m)
    })

    test('names a missing webhook configuration', async () => {
      const name = 'podcliqueset-validating-webhook'
      await host.client.delete(validating, { name })
      await untilOnly('Webhooks', new RegExp(`ValidatingWebhookConfiguration ${name} does not exist`))
      await host.apply(installed.webhookConfigurations)
      await untilHealthy()
    })

    test('names a permission that the ClusterRole of the operator lacks', async () => {
      const name = 'grove:system:grove-operator'
      const stored = await host.client.get(clusterRoles, { name })
      const rules = stored.rules?.map(rule =>
        rule.resources?.includes('services')
          ? { ...rule, verbs: rule.verbs.filter(verb => verb !== 'patch') }
          : rule,
      )
      await host.client.update(clusterRoles, { ...stored, rules } as ClusterRole)
      await untilOnly('Permissions', /grove:system:grove-operator does not grant patch services$/)
      const { metadata } = await host.client.get(clusterRoles, { name })
      await host.client.update(clusterRoles, { ...stored, metadata })
      await untilHealthy()
    })

    test('names a scheduler profile without its API', async () => {
      for (const name of ['kai-scheduler', 'kubernetes']) {
        await deploy({ ...configured(), scheduler: { profiles: [{ name }] } })
        const { findings } = await examined()
        const found = findings.find(({ check }) => check === 'Schedulers')
        assert.equal(found?.state, 'problem')
        assert.match(
          found?.message ?? '',
          new RegExp(`${name} is enabled, but the API server does not serve`),
        )
      }
      await deploy(configured())
      await untilHealthy()
    })

    test('reports a configuration that is no YAML', async () => {
      await deploy('logLevel: [')
      await untilOnly(
        'Configuration',
        /ConfigMap grove-system\/grove-operator-configuration: .* at line 1, column 12$/,
      )
      await deploy(configured())
      await untilHealthy()
    })

    test('names the mistake in the configuration', async () => {
      await deploy({ ...configured(), logLevel: 'chatty' })
      await untilOnly('Configuration', /logLevel.*chatty/)
      await deploy(configured())
      await untilHealthy()
    })

    test('names a topology level whose label some nodes lack', async () => {
      const key = 'example.com/rack'
      for (const [name, labels] of [
        ['labelled', { [key]: 'r1' }],
        ['bare', {}],
      ] as const)
        await host.client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } })
      const binding = {
        apiVersion: 'grove.io/v1alpha1',
        kind: 'ClusterTopologyBinding',
        metadata: { name: 'fabric' },
        spec: { levels: [{ domain: 'rack', key }] },
      } as const
      await host.client.create(resources.clusterTopologyBindings, binding as never)
      await untilOnly(
        'Topology',
        /level rack of ClusterTopologyBinding fabric: 1 of 2 nodes lack the label example\.com\/rack \(bare\)/,
      )
      await host.client.delete(resources.clusterTopologyBindings, { name: 'fabric' })
      await untilHealthy()
    })

    test('names a node whose devices two schedulers assign to pods', async () => {
      const namespace = 'default'
      const profiles = [{ name: 'grove-scheduler' }, { name: 'default-scheduler' }]
      await host.apply([
        {
          apiVersion: 'coordination.k8s.io/v1',
          kind: 'Lease',
          metadata: { namespace: operatorNamespace, name: 'grove-scheduler-leader-election' },
        },
      ])
      await deploy({ ...configured(), scheduler: { profiles } })
      await untilHealthy()
      for (const schedulerName of ['grove-scheduler', 'default-scheduler'])
        await host.client.create(resources.pods, {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { namespace, name: `of-${schedulerName}` },
          spec: {
            schedulerName,
            nodeName: 'labelled',
            containers: [
              {
                name: 'main',
                image: 'registry.example/main:1',
                resources: { limits: { 'nvidia.com/gpu': '1' } },
              },
            ],
          },
        } as never)
      await untilOnly(
        'Shared nodes',
        /grove-scheduler and default-scheduler both bind pods with nvidia\.com\/gpu to node labelled/,
      )
      const name = 'of-default-scheduler'
      await host.client.delete(resources.pods, { namespace, name }, { gracePeriodSeconds: 0 })
      await untilHealthy()
      await deploy(configured())
    })

    test('reports a Deployment without a ready pod', async () => {
      await deploy(configured(), 0)
      await untilOnly('Operator', /no pod of Deployment grove-system\/grove-operator is ready/)
      await deploy(configured())
      await untilHealthy()
    })

    test('reports webhooks that the API server cannot reach, and a certificate that it does not trust', async () => {
      operator.kill()
      await waitFor(
        'the process to exit',
        () => operator.child.exitCode !== null || operator.child.signalCode !== null,
      )
      await untilOnly('Admission', /the API server cannot reach the webhooks: .*:\d+: connect/)
      const serverName = `grove-operator.${operatorNamespace}.svc`
      const pair = createAuthority('foreign').server(serverName, [serverName])
      const server = createServer(pair, (_, response) => response.end())
      await new Promise<void>(resolve => server.listen(installed.launch.ports.webhooks, '127.0.0.1', resolve))
      await untilOnly('Admission', /does not trust the certificate of the webhooks/)
      server.close()
      server.closeAllConnections()
      await host.client.delete(leases, {
        namespace: operatorNamespace,
        name: 'grove-operator-leader-election',
      })
      await untilOnly('Operator', /no operator runs/)
    })
  })
}
