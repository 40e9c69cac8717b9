// SPDX-License-Identifier: Apache-2.0

// The permissions and webhook configurations of the chart are those of the operator's own code.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { dashboardClusterRole } from '@grove/dashboard'
import { installerRules } from '@grove/installer'
import { operatorClusterRole, operatorRole, webhookConfigurations } from '@grove/operator'
import { buildHelm, type Helm } from '@grove/test-kubernetes'
import { sorted } from './comparison.ts'
import {
  at,
  configurationOf,
  everyValue,
  goOperatorValues,
  named,
  type Rendered,
  release,
  renderedObjects,
} from './rendered-chart.ts'

describe('the chart', () => {
  let helm: Helm

  before(async () => {
    helm = await buildHelm()
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
    test(`grants exactly the permissions that the operator needs with ${what}`, async () => {
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
      const role = named(
        objects,
        'Role',
        values === everyValue ? 'grove-lease-role' : 'grove:system:grove-operator-lease',
      )
      assert.deepEqual(sorted(role.rules), sorted(operatorRole('', configuration).rules))
      assert.equal(role.metadata?.namespace, configuration.leaderElection.resourceNamespace)
    })

  test('grants the permission for a Lease in the namespace of the Lease', async () => {
    const leaderElection = { resourceNamespace: 'leases' }
    const gangScheduler = { enabled: true, config: { leaderElection } }
    const objects = await renderedObjects(helm, { values: { config: { leaderElection }, gangScheduler } })
    for (const kind of ['Role', 'RoleBinding'])
      assert.deepEqual(
        objects
          .filter(object => object.kind === kind)
          .map(({ metadata }) => `${metadata?.namespace}/${metadata?.name}`)
          .sort(),
        [
          `${release.namespace}/grove:system:grove-operator-lease`,
          'leases/grove:system:grove-operator-lease',
          'leases/grove:system:grove-scheduler-lease',
        ].sort(),
      )
    const resources = (namespace: string) =>
      objects
        .filter(({ kind, metadata }) => kind === 'Role' && metadata?.namespace === namespace)
        .flatMap(({ rules }) => (rules as { resources: string[] }[]).flatMap(rule => rule.resources))
    assert.deepEqual(resources(release.namespace), ['secrets'])
    assert.deepEqual([...new Set(resources('leases'))], ['leases'])
    for (const binding of objects.filter(({ kind }) => kind === 'RoleBinding'))
      assert.equal(at(binding, 'subjects.0.namespace'), release.namespace)
  })

  test('grants no permission on CRDs without the installer', async () => {
    const objects = await renderedObjects(helm, { values: { crdInstaller: { enabled: false } } })
    const { rules } = named(objects, 'ClusterRole', 'grove:system:grove-operator')
    assert.doesNotMatch(JSON.stringify(rules), /apiextensions/)
    assert.equal(at(named(objects, 'Deployment'), 'spec.template.spec.initContainers'), undefined)
  })

  test('grants the dashboard exactly the permissions of its code, and one value enables it', async () => {
    const isDashboard = ({ metadata }: Rendered) => metadata?.name?.endsWith('grove-dashboard') ?? false
    assert.deepEqual((await renderedObjects(helm)).filter(isDashboard), [])
    const objects = await renderedObjects(helm, { values: { dashboard: { enabled: true } } })
    assert.deepEqual(
      objects
        .filter(isDashboard)
        .map(({ kind }) => kind)
        .sort(),
      ['ClusterRole', 'ClusterRoleBinding', 'Deployment', 'Service', 'ServiceAccount'],
    )
    const { rules } = named(objects, 'ClusterRole', 'grove:system:grove-dashboard')
    assert.deepEqual(rules, dashboardClusterRole().rules)
    const verbs = (rules as { verbs: string[] }[]).flatMap(rule => rule.verbs)
    assert.deepEqual([...new Set(verbs)].sort(), ['get', 'list', 'watch'])
    const container = at(
      named(objects, 'Deployment', 'grove-dashboard'),
      'spec.template.spec.containers.0',
    ) as { args: string[] }
    assert.ok(container.args.includes('--bind-address=127.0.0.1'))
  })

  for (const [what, values] of [
    ['the default values', {}],
    ['the authorizer', { config: { authorizer: { enabled: true } } }],
    ['warnings about placement', { config: { placementWarnings: { enabled: true } } }],
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

  test('renders no webhook configuration if webhooks are disabled', async () => {
    const objects = await renderedObjects(helm, {
      values: { config: { server: { webhooks: { enabled: false } } } },
    })
    assert.ok(!objects.some(({ kind }) => kind?.endsWith('WebhookConfiguration')))
  })
})
