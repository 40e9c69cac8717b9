// SPDX-License-Identifier: Apache-2.0

// Tests the values of the chart: the resulting operator configuration, values files of the Go operator, rejections, and
// use as a sub-chart.
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { buildHelm, type Helm } from '@grove/test-kubernetes'
import { parse } from 'yaml'
import { configurationKeys } from '../../../tools/packaging/configuration-keys.ts'
import { sorted } from './comparison.ts'
import {
  at,
  chartFolder,
  configurationOf,
  configurationText,
  everyValue,
  goOperatorValues,
  named,
  type Rendered,
  render,
  renderedObjects,
} from './rendered-chart.ts'

describe('the values of the chart', () => {
  let helm: Helm
  let defaults: readonly Rendered[]

  before(async () => {
    helm = await buildHelm()
    defaults = await renderedObjects(helm)
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

  test('accepts values written for the Go operator', async () => {
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

  test('renders without the values that the chart of the Go operator lacks, as after --reuse-values', async () => {
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

  test('accepts numbers that are written as text, as --set passes fractions', async () => {
    const values = parse(readFileSync(everyValue, 'utf8')) as Record<string, object>
    const config = configurationKeys
      .filter(({ type }) => type === 'integer' || type === 'number')
      .reduce((section, { path }) => withNumberAsText(section, path.split('.')), values.config!)
    const texts = { replicaCount: '3', config, priorityClass: { ...values.priorityClass, value: '1000' } }
    const objects = await renderedObjects(helm, { values: { ...values, ...texts } })
    assert.deepEqual(objects, await renderedObjects(helm, { values: everyValue }))

    const fraction = { config: { runtimeClientConnection: { qps: '33.5' } } }
    const { runtimeClientConnection } = configurationOf(await renderedObjects(helm, { values: fraction }))
    assert.equal(runtimeClientConnection.qps, 33.5)
  })

  test('renders one replica if leader election is null', async () => {
    const values = { config: { leaderElection: { enabled: null } } }
    const objects = await renderedObjects(helm, { values })
    assert.equal(at(named(objects, 'Deployment'), 'spec.replicas'), 1)
    assert.equal(configurationOf(objects).leaderElection.enabled, false)
  })

  test('names the Service in the webhook configurations, and in the configuration, for its certificates', async () => {
    const objects = await renderedObjects(helm, { values: { service: { name: 'other' } } })
    named(objects, 'Service', 'other')
    assert.equal(configurationOf(objects).server.webhooks.serviceName, 'other')
    const hooks = objects.filter(({ kind }) => kind?.endsWith('WebhookConfiguration'))
    for (const each of hooks) assert.equal(at(each, 'webhooks.0.clientConfig.service.name'), 'other')
    assert.equal(configurationOf(defaults).server.webhooks.serviceName, 'grove-operator')
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
        { config: { scheduler: { profiles: [{ name: 'unknown-scheduler' }] } } },
        /config.scheduler.profiles.0/,
      ],
      [
        'a duration without unit',
        { config: { leaderElection: { retryPeriod: '2' } } },
        /config.leaderElection.retryPeriod/,
      ],
      ['tolerations that are not a list', { tolerations: { key: 'a' } }, /tolerations/],
      ['a typing error in a section of this chart', { networkPolicy: { enable: true } }, /networkPolicy/],
      [
        'several replicas without leader election',
        { replicaCount: 2, config: { leaderElection: { enabled: false } } },
        /replicaCount is above 1 while config.leaderElection.enabled is false/,
      ],
      [
        'a required section that is null',
        { config: { server: { metrics: null } } },
        /config.server.*metrics/,
      ],
      ['a configuration that is null', { config: null }, /missing property 'config'/],
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

    test('uses the values of its parent', async () => {
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

function withNumberAsText(section: object, [name, ...rest]: readonly string[]): object {
  const value = (section as Record<string, unknown>)[name!]
  const text = rest.length > 0 ? withNumberAsText(value as object, rest) : String(value)
  return { ...section, [name!]: text }
}

/** The wanted members on top of the rendered ones, which include defaults of the chart. */
function merged(rendered: unknown, wanted: unknown): unknown {
  if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted)) return wanted
  return { ...(rendered as object), ...wanted }
}
