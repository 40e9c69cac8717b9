// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defaultConfiguration } from '@grove/api'
import { webhookConfigurations } from './webhook-configurations.ts'

describe('the webhook that warns about scaling', () => {
  const configurations = webhookConfigurations(
    { namespace: 'grove-system', port: 443 },
    defaultConfiguration(),
  )
  const webhooks = configurations.flatMap(configuration => configuration.webhooks ?? [])

  test('never blocks a request, unlike all other webhooks', () => {
    const ignored = webhooks.filter(({ failurePolicy }) => failurePolicy !== 'Fail')
    assert.deepEqual(
      ignored.map(({ name, failurePolicy }) => [name, failurePolicy]),
      [['pclq.scaling.webhooks.grove.io', 'Ignore']],
    )
    assert.ok(ignored[0]!.timeoutSeconds! <= 2, 'users wait this long if the operator is unreachable')
  })
})

describe('the webhook that protects managed objects', () => {
  const { authorizer, placementWarnings } = defaultConfiguration()
  const configurations = webhookConfigurations(
    { namespace: 'grove-system', port: 443 },
    { authorizer: { ...authorizer, enabled: true }, placementWarnings },
  )
  const [webhook] =
    configurations.find(({ metadata }) => metadata.name === 'authorizer-webhook')?.webhooks ?? []
  const operationsOn = (group: string, resource: string): readonly string[] =>
    (webhook?.rules ?? [])
      .filter(rule => rule.apiGroups?.includes(group) && rule.resources?.includes(resource))
      .flatMap(rule => rule.operations ?? [])

  const rows: [string, string, string[], string][] = [
    ['grove.io', 'podcliques/status', ['UPDATE'], 'only the operator writes it'],
    ['grove.io', 'podcliquescalinggroups/status', ['UPDATE'], 'only the operator writes it'],
    ['resource.k8s.io', 'resourceclaims', ['DELETE'], 'the scheduler and controllers update them'],
    ['resource.nvidia.com', 'computedomains', ['DELETE'], 'their driver updates them'],
    ['scheduler.grove.io', 'podgangs/status', [], 'schedulers write it'],
    ['grove.io', 'podcliques/scale', [], 'users scale cliques'],
    ['grove.io', 'podcliquescalinggroups/scale', [], 'users scale groups'],
    ['', 'pods', ['UPDATE'], 'users may delete pods'],
    ['', 'pods/status', [], 'kubelets write it'],
  ]
  for (const [group, resource, operations, why] of rows)
    test(`receives ${operations.join(', ') || 'nothing'} of ${resource}: ${why}`, () => {
      assert.deepEqual(operationsOn(group, resource), operations)
    })
})

describe('the webhook that warns about placement', () => {
  const namesWith = (enabled: boolean) =>
    webhookConfigurations(
      { namespace: 'grove-system', port: 443 },
      { ...defaultConfiguration(), placementWarnings: { enabled } },
    )
      .flatMap(({ webhooks = [] }) => webhooks)
      .filter(({ name }) => name === 'pcs.placement.webhooks.grove.io')

  test('is registered only if the configuration enables it', () => {
    assert.equal(namesWith(false).length, 0)
    assert.equal(namesWith(true).length, 1)
  })

  test('never causes a rejection when it cannot be called', () => {
    assert.equal(namesWith(true)[0]?.failurePolicy, 'Ignore')
  })
})
