// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defaultConfiguration } from '@grove/api'
import { webhookConfigurations } from './webhook-configurations.ts'

describe('the webhook that protects managed objects', () => {
  const { authorizer } = defaultConfiguration()
  const configurations = webhookConfigurations(
    { namespace: 'grove-system', port: 443 },
    { authorizer: { ...authorizer, enabled: true } },
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
    test(`is asked about ${operations.join(', ') || 'nothing'} of ${resource}: ${why}`, () => {
      assert.deepEqual(operationsOn(group, resource), operations)
    })
})
