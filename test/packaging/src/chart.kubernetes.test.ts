// SPDX-License-Identifier: Apache-2.0

// Tests the chart, rendered by the Helm version that users have.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { customResourceDefinitions } from '@grove/api'
import { buildHelm, type Helm } from '@grove/test-kubernetes'
import { writeReleaseChart } from '../../../tools/packaging/release-chart.ts'
import { sorted } from './comparison.ts'
import {
  at,
  chartFolder,
  configurationOf,
  documents,
  everyValue,
  goOperatorValues,
  named,
  type Rendered,
  release,
  renderedObjects,
} from './rendered-chart.ts'

describe('the chart', () => {
  let helm: Helm
  let defaults: readonly Rendered[]

  before(async () => {
    helm = await buildHelm()
    defaults = await renderedObjects(helm)
  })

  for (const [what, values] of [
    ['the default values', undefined],
    ['every value changed', everyValue],
    ['values written for the Go operator', goOperatorValues],
  ] as const)
    test(`passes helm lint with ${what}`, async () => {
      const flags = values ? ['--values', values] : []
      const { code, stdout, stderr } = await helm.run(['lint', '--strict', chartFolder, ...flags])
      assert.equal(code, 0, stdout + stderr)
    })

  test('renders the objects that the chart of the Go operator renders, under their names', () => {
    const names = defaults.map(({ kind, metadata }) => `${kind} ${metadata?.name}`)
    for (const wanted of [
      'ServiceAccount grove-operator',
      'ClusterRole grove:system:grove-operator',
      'ClusterRoleBinding grove:system:grove-operator',
      'Role grove:system:grove-operator-lease',
      'RoleBinding grove:system:grove-operator-lease',
      'Deployment grove-operator',
      'Service grove-operator',
      'MutatingWebhookConfiguration podcliqueset-defaulting-webhook',
      'ValidatingWebhookConfiguration podcliqueset-validating-webhook',
      'ValidatingWebhookConfiguration clustertopology-validating-webhook',
    ])
      assert.ok(names.includes(wanted), `${wanted} is missing: ${names.join(', ')}`)
    assert.ok(!names.includes('ValidatingWebhookConfiguration authorizer-webhook'))
    assert.ok(
      !names.some(name => name.startsWith('Secret')),
      'an upgrade would empty a Secret of the release',
    )
    assert.match(named(defaults, 'ConfigMap').metadata?.name ?? '', /^grove-operator-cm-[0-9a-f]{8}$/)
    assert.equal(named(defaults, 'ConfigMap').immutable, true)
  })

  test('runs two replicas that elect a leader, with restricted containers', () => {
    const deployment = named(defaults, 'Deployment')
    assert.equal(at(deployment, 'spec.replicas'), 2)
    assert.equal(configurationOf(defaults).leaderElection.enabled, true)
    assert.deepEqual(at(deployment, 'spec.selector.matchLabels'), {
      'app.kubernetes.io/component': 'operator-deployment',
      'app.kubernetes.io/name': 'grove-operator',
      'app.kubernetes.io/part-of': 'grove',
    })
    for (const path of ['spec.template.spec.containers.0', 'spec.template.spec.initContainers.0'])
      assert.deepEqual(at(deployment, `${path}.securityContext`), {
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
        readOnlyRootFilesystem: true,
        runAsNonRoot: true,
      })
    assert.equal(at(deployment, 'spec.template.spec.containers.0.livenessProbe.httpGet.path'), '/healthz')
    assert.equal(at(deployment, 'spec.template.spec.containers.0.readinessProbe.httpGet.path'), '/readyz')
    assert.equal(at(named(defaults, 'PodDisruptionBudget'), 'spec.maxUnavailable'), 1)
  })

  test('renders the same bytes twice, and another ConfigMap name for another configuration', async () => {
    const args = ['template', release.name, chartFolder, '-n', release.namespace]
    assert.equal((await helm.run(args)).stdout, (await helm.run(args)).stdout)
    const changed = await renderedObjects(helm, { values: { config: { logLevel: 'debug' } } })
    const name = named(changed, 'ConfigMap').metadata?.name
    assert.notEqual(name, named(defaults, 'ConfigMap').metadata?.name)
    assert.equal(at(named(changed, 'Deployment'), 'spec.template.spec.volumes.0.configMap.name'), name)
  })

  test('works without probes', async () => {
    const objects = await renderedObjects(helm, {
      values: { config: { server: { healthProbes: { enable: false } } } },
    })
    const container = at(named(objects, 'Deployment'), 'spec.template.spec.containers.0') as Rendered
    assert.deepEqual([container.livenessProbe, container.readinessProbe], [undefined, undefined])
    configurationOf(objects)
  })

  test('mounts externally provided certificates without the key of their authority, and supports injection by cert-manager', async () => {
    const objects = await renderedObjects(helm, { values: { certManager: { enabled: true } } })
    assert.equal(configurationOf(objects).server.webhooks.certProvisionMode, 'manual')
    const volumes = at(named(objects, 'Deployment'), 'spec.template.spec.volumes') as Rendered[]
    const secret = volumes.find(({ name }) => name === 'grove-webhook-server-cert')?.secret
    assert.deepEqual(at(secret, 'items'), [
      { key: 'tls.crt', path: 'tls.crt' },
      { key: 'tls.key', path: 'tls.key' },
    ])
    assert.equal(at(secret, 'optional'), true)
    for (const each of objects.filter(({ kind }) => kind?.endsWith('WebhookConfiguration')))
      assert.equal(
        each.metadata?.annotations?.['cert-manager.io/inject-ca-from'],
        'grove-system/grove-webhook-server',
      )
    assert.deepEqual(at(named(objects, 'Certificate'), 'spec.dnsNames'), [
      'grove-operator.grove-system.svc',
      'grove-operator.grove-system',
      'grove-operator',
      'grove-operator.grove-system.svc.cluster.local',
    ])
    named(objects, 'Issuer')
  })

  test('extends the built-in roles', () => {
    for (const role of ['view', 'edit', 'admin'])
      assert.equal(
        named(defaults, 'ClusterRole', `grove:${role}`).metadata?.labels?.[
          `rbac.authorization.k8s.io/aggregate-to-${role}`
        ],
        'true',
      )
  })

  test('renders monitoring, network policy and disruption budget with one value each', async () => {
    const objects = await renderedObjects(helm, {
      values: {
        metrics: { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true } },
        networkPolicy: { enabled: true },
        podDisruptionBudget: { enabled: false },
      },
    })
    const endpoint = at(named(objects, 'ServiceMonitor'), 'spec.endpoints.0') as Rendered
    assert.equal(endpoint.scheme, 'https')
    assert.equal(at(endpoint, 'tlsConfig.serverName'), 'grove-operator.grove-system.svc')
    assert.match(JSON.stringify(named(objects, 'PrometheusRule')), /GroveOperatorHasNoLeader/)
    named(objects, 'NetworkPolicy')
    assert.ok(!objects.some(({ kind }) => kind === 'PodDisruptionBudget'))
  })

  test('carries the CRDs of the operator', async () => {
    const { stdout, code, stderr } = await helm.run(['show', 'crds', chartFolder])
    assert.equal(code, 0, stderr)
    assert.deepEqual(sorted(documents(stdout)), sorted(JSON.parse(JSON.stringify(customResourceDefinitions))))
  })

  test('of a release is packaged with the images and the version of the release', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'grove-release-'))
    try {
      const chart = join(folder, 'chart')
      writeReleaseChart({ registry: 'registry.example/grove', version: 'v1.2.3-rc.1' }, chart)
      const packaged = await helm.run(['package', chart, '--destination', folder])
      assert.equal(packaged.code, 0, packaged.stderr)
      const objects = await renderedObjects(helm, { chart: join(folder, 'grove-charts-v1.2.3-rc.1.tgz') })
      const deployment = named(objects, 'Deployment')
      for (const container of ['containers.0', 'initContainers.0'])
        assert.equal(
          at(deployment, `spec.template.spec.${container}.image`),
          'registry.example/grove/grove-operator:v1.2.3-rc.1',
        )
      assert.match(JSON.stringify(deployment), /"value":"registry\.example\/grove\/grove-initc"/)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
