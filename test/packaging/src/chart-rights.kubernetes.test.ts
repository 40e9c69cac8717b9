// SPDX-License-Identifier: Apache-2.0

// The rights and webhook configurations of the chart are those of the operator's own code.
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
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
})
