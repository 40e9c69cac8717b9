// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultConfiguration, type OperatorConfiguration, type PolicyRule } from '@grove/api'
import { operatorClusterRole, operatorRole } from './cluster-role.ts'

const configuration = defaultConfiguration()
const granted = (resource: string, autoMNNVLEnabled = false) => {
  const network = { ...configuration.network, autoMNNVLEnabled }
  const { rules } = operatorClusterRole({ ...configuration, network })
  return rules?.filter(rule => rule.resources?.includes(resource)).flatMap(rule => rule.verbs) ?? []
}

test('the operator may release single NVLink domains with the feature on or off, and never deletes them as a collection', () => {
  for (const enabled of [false, true]) {
    const verbs = granted('computedomains', enabled)
    for (const verb of ['get', 'list', 'watch', 'create', 'patch', 'delete'])
      assert.ok(verbs.includes(verb), verb)
    assert.ok(!verbs.includes('deletecollection'))
  }
})

test('only kinds of which users rarely have objects are deleted as collections', () => {
  const { rules = [] } = operatorClusterRole(configuration)
  const collections = rules.filter(({ verbs }) => verbs.includes('deletecollection'))
  assert.deepEqual(collections.flatMap(({ resources = [] }) => resources).sort(), [
    'podcliques',
    'podcliquescalinggroups',
    'podgangs',
    'pods',
  ])
})

test('claim templates are only read, and Secrets never listed or watched', () => {
  assert.deepEqual(granted('resourceclaimtemplates'), ['get', 'list', 'watch'])
  for (const verb of ['list', 'watch', 'update', 'patch']) assert.ok(!granted('secrets').includes(verb), verb)
})

const secretName = configuration.server.webhooks.secretName
const withServer = (server: Partial<OperatorConfiguration['server']>) => ({
  ...configuration,
  server: { ...configuration.server, ...server },
})
/** The verbs and object names that the role grants for a resource. A rule without names covers every object. */
const rights = (rules: readonly PolicyRule[] | undefined, resource: string) =>
  (rules ?? [])
    .filter(rule => rule.resources?.includes(resource))
    .flatMap(({ verbs, resourceNames = [''] }) =>
      verbs.flatMap(verb => resourceNames.map(name => `${verb} ${name}`.trim())),
    )

test('the lease and the certificate Secret are read and written by name only', () => {
  const { rules } = operatorRole('grove-system', configuration)
  const lease = 'grove-operator-leader-election'
  assert.deepEqual(rights(rules, 'leases'), ['create', `get ${lease}`, `update ${lease}`])
  assert.deepEqual(
    rights(rules, 'secrets'),
    ['get', 'list', 'watch', 'update'].map(verb => `${verb} ${secretName}`),
  )
})

test('with externally managed certificates, the operator has no access to the Secret and only watches the webhook configurations', () => {
  const manual = withServer({
    webhooks: { ...configuration.server.webhooks, certProvisionMode: 'manual' },
  })
  assert.deepEqual(rights(operatorRole('grove-system', manual).rules, 'secrets'), [])
  const verbsOf = (of: OperatorConfiguration) =>
    new Set(
      rights(operatorClusterRole(of).rules, 'validatingwebhookconfigurations').map(
        right => right.split(' ')[0],
      ),
    )
  assert.deepEqual([...verbsOf(manual)], ['list', 'watch'])
  assert.deepEqual([...verbsOf(configuration)], ['get', 'list', 'watch', 'update'])
  const without = withServer({ webhooks: { ...configuration.server.webhooks, enabled: false } })
  assert.deepEqual([...verbsOf(without)], [])
  for (const each of rights(operatorClusterRole(configuration).rules, 'validatingwebhookconfigurations'))
    assert.match(each, / \S+-webhook$/, 'never without a name')
})

test('grants TokenReviews and SubjectAccessReviews only if the metrics endpoint is secured', () => {
  const secured = withServer({ metrics: { ...configuration.server.metrics, secure: true } })
  for (const resource of ['tokenreviews', 'subjectaccessreviews']) {
    assert.deepEqual(rights(operatorClusterRole(configuration).rules, resource), [])
    assert.deepEqual(rights(operatorClusterRole(secured).rules, resource), ['create'])
  }
})
