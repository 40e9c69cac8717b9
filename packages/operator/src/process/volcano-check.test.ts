// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfiguration } from '@grove/api'
import type { Client } from '@grove/kube'
import { checkVolcano, incompatibilityOf } from './volcano-check.ts'

const v1beta1 = (spec: Record<string, { properties?: undefined }>, served = true) => ({
  spec: {
    versions: [
      { name: 'v1alpha1', served: true },
      {
        name: 'v1beta1',
        served,
        schema: { openAPIV3Schema: { properties: { spec: { properties: spec } } } },
      },
    ],
  },
})

test('Volcano must support groups within a PodGroup', () => {
  const rows: [Parameters<typeof incompatibilityOf>[0], RegExp | undefined][] = [
    [undefined, /podgroups\.scheduling\.volcano\.sh is not installed/],
    [{ spec: { versions: [{ name: 'v1alpha1', served: true }] } }, /is not served as v1beta1/],
    [v1beta1({ subGroupPolicy: {} }, false), /is not served as v1beta1/],
    [v1beta1({ minMember: {} }), /has no spec\.subGroupPolicy; Volcano 1\.14 or newer is needed/],
    [v1beta1({ subGroupPolicy: {} }), undefined],
  ]
  for (const [definition, expected] of rows)
    if (expected) assert.match(incompatibilityOf(definition) ?? '', expected)
    else assert.equal(incompatibilityOf(definition), undefined)
})

test('Volcano is checked only if its profile is enabled, and a failure ends the process with its own exit code', async () => {
  const configured = (...names: string[]) => {
    const result = loadConfiguration({
      apiVersion: 'operator.config.grove.io/v1alpha1',
      kind: 'OperatorConfiguration',
      scheduler: { profiles: names.map(name => ({ name })) },
    })
    assert.ok(result.outcome === 'loaded')
    return result.configuration
  }
  const requests: string[] = []
  const emitted: unknown[] = []
  const client = {
    find: async ({ resource }: { resource: string }) => void requests.push(resource),
    create: async (_: unknown, event: unknown) => emitted.push(event),
  } as unknown as Client
  await checkVolcano(client, configured('default-scheduler', 'kai-scheduler'))
  assert.deepEqual(requests, [])
  await assert.rejects(checkVolcano(client, configured('volcano')), {
    exitCode: 5,
    message: /^failed to initialize volcano backend: /,
  })
  assert.equal((emitted[0] as { reason: string }).reason, 'VolcanoCapabilityUnavailable')
})
