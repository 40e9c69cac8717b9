// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PolicyRule } from '@grove/api'
import { conditionalRules } from './chart-rights.ts'

const rule = (resource: string): PolicyRule => ({ apiGroups: [''], resources: [resource], verbs: ['get'] })

test('groups rules by the condition that they depend on', () => {
  const groups = conditionalRules(({ server, scheduler }) => [
    rule('pods'),
    ...(server.metrics.secure ? [rule('tokenreviews')] : []),
    ...(scheduler.profiles.some(({ name }) => name === 'volcano') ? [rule('queues')] : []),
  ])
  assert.deepEqual(groups, [
    { when: 'always', rules: [rule('pods')] },
    { when: 'scheduler.volcano', rules: [rule('queues')] },
    { when: 'metrics.secure', rules: [rule('tokenreviews')] },
  ])
})

test('rejects rules that depend on a combination of conditions, because the chart would not render them', () => {
  assert.throws(
    () =>
      conditionalRules(({ server }) =>
        server.metrics.secure && server.webhooks.enabled ? [rule('pods')] : [rule('nodes')],
      ),
    /the chart's conditions do not yield the rights of .*"secure":true/,
  )
})
