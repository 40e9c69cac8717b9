// SPDX-License-Identifier: Apache-2.0

// The chart, rendered by the Helm that users have.
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { customResourceDefinitions } from '@grove/api'
import { installerRules } from '@grove/installer'
import { operatorClusterRole, operatorRole, webhookConfigurations } from '@grove/operator'
import { buildHelm, type Helm } from '@grove/test-kubernetes'
import { parse } from 'yaml'
import { writeReleaseChart } from '../../../tools/packaging/release-chart.ts'
import {
  at,
  chartFolder,
  configurationOf,
  configurationText,
  documents,
  named,
  type Rendered,
  release,
  render,
  renderedObjects,
  valuesFolder,
} from './rendered-chart.ts'

const goOperatorValues = join(valuesFolder, 'go-operator.yaml')
const everyValue = join(valuesFolder, 'everything.yaml')

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
      'a Secret of the release is emptied by upgrades',
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

  const grants: [string, object | string | undefined][] = [
    ['the default values', undefined],
    ['values written for the Go operator', goOperatorValues],
    ['every value changed', everyValue],
    ['no further scheduler', { config: { scheduler: { profiles: [] } } }],
    ['Volcano', { config: { scheduler: { profiles: [{ name: 'volcano' }] } } }],
    ['plain metrics', { config: { server: { metrics: { secure: false } } } }],
    ['manual certificates', { config: { server: { webhooks: { certProvisionMode: 'manual' } } } }],
    ['no webhooks', { config: { server: { webhooks: { enabled: false } } } }],
    [
      'no webhooks and plain metrics',
      { config: { server: { webhooks: { enabled: false }, metrics: { secure: false } } } },
    ],
    ['certificates of cert-manager', { certManager: { enabled: true } }],
  ]
  for (const [what, values] of grants)
    test(`grants exactly the rights that the operator needs with ${what}`, async () => {
      const objects = await renderedObjects(helm, values ? { values } : {})
      const configuration = configurationOf(objects)
      const bindings = named(
        objects,
        'ClusterRoleBinding',
        values === everyValue ? 'grove-binding' : 'grove:system:grove-operator',
      )
      const clusterRole = named(objects, 'ClusterRole', String(at(bindings, 'roleRef.name')))
      assert.deepEqual(
        sorted(clusterRole.rules),
        sorted([...operatorClusterRole(configuration).rules!, ...installerRules]),
      )
      assert.deepEqual(sorted(named(objects, 'Role').rules), sorted(operatorRole('', configuration).rules))
    })

  test('grants no right on CRDs without the installer', async () => {
    const objects = await renderedObjects(helm, { values: { crdInstaller: { enabled: false } } })
    const { rules } = named(objects, 'ClusterRole', 'grove:system:grove-operator')
    assert.doesNotMatch(JSON.stringify(rules), /apiextensions/)
    assert.equal(at(named(objects, 'Deployment'), 'spec.template.spec.initContainers'), undefined)
  })

  for (const [what, values] of [
    ['the default values', {}],
    ['the authorizer', { config: { authorizer: { enabled: true } } }],
  ] as const)
    test(`renders the webhook configurations of the operator with ${what}`, async () => {
      const objects = await renderedObjects(helm, { values })
      const wanted = webhookConfigurations(
        { namespace: release.namespace, port: 9443 },
        configurationOf(objects),
      )
      const rendered = objects.filter(({ kind }) => kind?.endsWith('WebhookConfiguration'))
      const plain = (each: Rendered) => [each.kind, each.metadata?.name, each.webhooks]
      assert.deepEqual(sorted(rendered.map(plain)), sorted((wanted as unknown as Rendered[]).map(plain)))
    })

  test('renders no webhook configuration when the webhooks are switched off', async () => {
    const objects = await renderedObjects(helm, {
      values: { config: { server: { webhooks: { enabled: false } } } },
    })
    assert.ok(!objects.some(({ kind }) => kind?.endsWith('WebhookConfiguration')))
  })

  test('passes every key of the configuration to the operator', async () => {
    const objects = await renderedObjects(helm, { values: everyValue })
    const values = parse(readFileSync(everyValue, 'utf8')) as {
      config: Record<string, Record<string, unknown>>
    }
    const { apiVersion, kind, ...rendered } = parse(configurationText(objects))
    assert.equal(`${apiVersion} ${kind}`, 'operator.config.grove.io/v1alpha1 OperatorConfiguration')
    delete (values.config.server!.healthProbes as Record<string, unknown>).enable
    for (const [section, content] of Object.entries(values.config))
      if (typeof content === 'object')
        for (const [key, value] of Object.entries(content))
          assert.deepEqual(rendered[section][key], merged(rendered[section][key], value), `${section}.${key}`)
      else assert.equal(rendered[section], content)
    configurationOf(objects)
  })

  test('takes over values written for the Go operator', async () => {
    const objects = await renderedObjects(helm, { values: goOperatorValues })
    const configuration = configurationOf(objects)
    const deployment = named(objects, 'Deployment')
    assert.equal(at(deployment, 'spec.replicas'), 1)
    assert.equal(
      at(deployment, 'spec.strategy.type'),
      'Recreate',
      'two operators without election must not overlap',
    )
    assert.equal(
      at(deployment, 'spec.template.spec.containers.0.image'),
      'registry.example/grove-operator:v0.1.0-alpha.9',
    )
    const installer = at(deployment, 'spec.template.spec.initContainers.0') as Rendered
    assert.equal(
      installer.image,
      `registry.example/grove-install-crds:v0.1.0-alpha.9@sha256:${'0'.repeat(64)}`,
    )
    assert.equal(installer.command, undefined, 'an image of its own has its own entry point')
    assert.equal(at(deployment, 'spec.template.spec.priorityClassName'), 'grove-operator-priority-critical')
    assert.equal(named(objects, 'PriorityClass').value, 999999550)
    assert.equal(configuration.scheduler.defaultProfileName, 'kai-scheduler')
    assert.deepEqual(configuration.scheduler.profiles[0], {
      name: 'default-scheduler',
      config: { gangScheduling: false },
    })
    assert.equal(
      configuration.authorizer.reconcilerServiceAccountUserName,
      'system:serviceaccount:grove-system:grove-operator',
    )
    assert.deepEqual(configuration.runtimeClientConnection.rateLimit, { qps: 200, burst: 300 })
  })

  test('renders the same bytes twice, and another ConfigMap name for another configuration', async () => {
    const words = ['template', release.name, chartFolder, '-n', release.namespace]
    assert.equal((await helm.run(words)).stdout, (await helm.run(words)).stdout)
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

  test('mounts certificates of others without the key of their authority, and injects by cert-manager', async () => {
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

  test('renders monitoring, network policy and budget by one value each', async () => {
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

  test('renders without the values that the chart of the Go operator lacks, as --reuse-values leaves them', async () => {
    const sections = [
      'topologySpread',
      'podDisruptionBudget',
      'networkPolicy',
      'certManager',
      'aggregatedRoles',
    ]
    const single = ['affinity', 'podLabels', 'commonLabels', 'commonAnnotations', 'priorityClassName']
    const values = {
      ...Object.fromEntries([...sections, ...single].map(name => [name, null])),
      config: { server: { metrics: { secure: null } } },
      crdInstaller: { enabled: false, force: null },
      deployment: { annotations: null, strategy: null },
      metrics: { prometheusRule: null, serviceMonitor: { interval: null, serviceAccount: null } },
      service: { publishNotReadyAddresses: null },
      serviceAccount: { annotations: null },
    }
    const objects = await renderedObjects(helm, { values })
    assert.equal(configurationOf(objects).server.metrics.secure, false)
    const spec = at(named(objects, 'Deployment'), 'spec.template.spec') as Rendered
    assert.deepEqual([spec.topologySpreadConstraints, spec.initContainers], [undefined, undefined])
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

  describe('rejects', () => {
    const rows: [string, object, RegExp][] = [
      [
        'a log level that does not exist',
        { config: { logLevel: 'loud' } },
        /config.logLevel|\/config\/logLevel/,
      ],
      [
        'a port out of range',
        { config: { server: { webhooks: { port: 70000 } } } },
        /config.server.webhooks.port/,
      ],
      [
        'a text for a flag',
        { config: { leaderElection: { enabled: 'yes' } } },
        /config.leaderElection.enabled/,
      ],
      [
        'a scheduler that does not exist',
        { config: { scheduler: { profiles: [{ name: 'nobody' }] } } },
        /config.scheduler.profiles.0/,
      ],
      [
        'a duration without unit',
        { config: { leaderElection: { retryPeriod: '2' } } },
        /config.leaderElection.retryPeriod/,
      ],
      ['a list for tolerations that is none', { tolerations: { key: 'a' } }, /tolerations/],
      ['a typing error in a section of its own', { networkPolicy: { enable: true } }, /networkPolicy/],
      [
        'several replicas without leader election',
        { replicaCount: 2, config: { leaderElection: { enabled: false } } },
        /replicaCount is above 1 while config.leaderElection.enabled is false/,
      ],
      [
        'another Service name with automatic certificates',
        { service: { name: 'other' } },
        /service.name must be grove-operator/,
      ],
      [
        'a section that it needs and that is null',
        { config: { server: { metrics: null } } },
        /config.server.*metrics/,
      ],
      ['all of the configuration being null', { config: null }, /missing property 'config'/],
      ['an empty image', { image: { repository: '' } }, /image.repository is required/],
    ]
    for (const [what, values, message] of rows)
      test(what, async () => {
        const rendering = await render(helm, { values })
        assert.ok(!rendering.ok, 'it was rendered')
        assert.match(rendering.message.replaceAll('/', '.'), message)
      })
  })

  describe('as a sub-chart with the alias grove', () => {
    const parent = mkdtempSync(join(tmpdir(), 'grove-parent-'))
    after(() => rmSync(parent, { recursive: true, force: true }))

    test('takes the values of its parent', async () => {
      mkdirSync(join(parent, 'charts'))
      cpSync(chartFolder, join(parent, 'charts/grove-charts'), { recursive: true })
      const dependency = '{name: grove-charts, alias: grove, version: 0.1.0, condition: global.grove.install}'
      writeFileSync(
        join(parent, 'Chart.yaml'),
        `apiVersion: v2\nname: platform\nversion: 1.0.0\ndependencies:\n  - ${dependency}\n`,
      )
      const tolerations = [{ key: 'system', operator: 'Exists' }]
      const affinity = { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } }
      const config = { server: { healthProbes: { enable: false } } }
      const grove = { tolerations, affinity, config }
      const values = { global: { grove: { install: true, enabled: true } }, grove }
      const objects = await renderedObjects(helm, { chart: parent, values })
      const deployment = named(objects, 'Deployment')
      assert.deepEqual(at(deployment, 'spec.template.spec.tolerations'), tolerations)
      assert.deepEqual(at(deployment, 'spec.template.spec.affinity'), affinity)
      assert.equal(at(deployment, 'spec.template.spec.containers.0.livenessProbe'), undefined)
      assert.deepEqual(
        sorted(named(objects, 'ClusterRole', 'grove:system:grove-operator').rules),
        sorted(named(defaults, 'ClusterRole', 'grove:system:grove-operator').rules),
      )
      const without = await renderedObjects(helm, {
        chart: parent,
        values: { global: { grove: { install: false } } },
      })
      assert.deepEqual(without, [])
    })
  })
})

/** Lists of objects in an order that does not depend on where they come from. */
function sorted(list: unknown): unknown[] {
  return [...(list as unknown[])].sort((a, b) => (canonical(a) < canonical(b) ? -1 : 1))
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{${Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${name}:${canonical(member)}`)
    .join()}}`
}

/** The wanted members on top of the rendered ones: the chart adds its own defaults beside them. */
function merged(rendered: unknown, wanted: unknown): unknown {
  if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted)) return wanted
  return { ...(rendered as object), ...wanted }
}
