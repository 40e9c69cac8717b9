// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { at } from '../json.ts'
import { pod } from '../objects.ts'
import { chapter, type Fixture } from '../suite.ts'

const budgets = 'poddisruptionbudgets'

async function guarded({ http, core, group }: Fixture, spec: object = {}): Promise<void> {
  await http.post(group('policy/v1', budgets), {
    metadata: { name: 'b' },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'x' } }, ...spec },
  })
  await http.post(core('pods'), pod('p', { nodeName: 'n1' }, { labels: { app: 'x' } }))
}

const setReady = ({ http, core }: Fixture, status: string) =>
  http.mergePatch(core('pods/p/status'), {
    status: { phase: 'Running', conditions: [{ type: 'Ready', status }] },
  })

const setBudget = ({ http, group }: Fixture, status: object) =>
  http.mergePatch(group('policy/v1', `${budgets}/b/status`), { status })

const evict = ({ http, core }: Fixture, body: object = {}, query: Record<string, string> = {}) =>
  http.post(
    core('pods/p/eviction'),
    { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' }, ...body },
    { query },
  )

export const evictions = chapter('evictions', {
  'require the name of the pod in the path': async fixture => {
    await guarded(fixture)
    const rejected = await evict(fixture, { metadata: { name: 'q' } })
    assert.equal(rejected.status, 400)
    assert.equal(rejected.at('message'), 'name in URL does not match name in Eviction object')
  },
  'wait until the controller has observed the disruption budget': async fixture => {
    await guarded(fixture)
    await setReady(fixture, 'True')
    const rejected = await evict(fixture)
    assert.equal(rejected.status, 429)
    assert.equal(rejected.at('details.retryAfterSeconds'), 10)
    assert.equal(
      rejected.at('details.causes.0.message'),
      'The disruption budget b is still being processed by the server.',
    )
  },
  'of an unready pod do not use a healthy budget': async fixture => {
    await guarded(fixture)
    await setReady(fixture, 'False')
    await setBudget(fixture, { observedGeneration: 1, currentHealthy: 1, desiredHealthy: 1, expectedPods: 2 })
    assert.equal((await evict(fixture, {}, { dryRun: 'All' })).status, 201)
    await setBudget(fixture, { currentHealthy: 0 })
    assert.equal((await evict(fixture, {}, { dryRun: 'All' })).status, 429)
  },
  'of an unready pod are always allowed with AlwaysAllow': async fixture => {
    await guarded(fixture, { unhealthyPodEvictionPolicy: 'AlwaysAllow' })
    await setReady(fixture, 'False')
    assert.equal((await evict(fixture)).status, 201)
  },
  'are recorded in the budget before the pod is deleted': async fixture => {
    const { http, core, group } = fixture
    await guarded(fixture)
    await setReady(fixture, 'True')
    await setBudget(fixture, {
      observedGeneration: 1,
      disruptionsAllowed: 1,
      currentHealthy: 2,
      desiredHealthy: 1,
      expectedPods: 2,
    })
    assert.equal((await evict(fixture)).status, 201)
    const going = await http.get(core('pods/p'))
    assert.ok(going.at('metadata.deletionTimestamp'))
    const conditions = going.at('status.conditions') as object[]
    const noted = conditions.find(each => at(each, 'type') === 'DisruptionTarget')
    assert.equal(at(noted, 'reason'), 'EvictionByEvictionAPI')
    const budget = await http.get(group('policy/v1', `${budgets}/b`))
    assert.equal(budget.at('status.conditions.0.reason'), 'InsufficientPods')
    assert.equal(budget.at('status.conditions.0.status'), 'False')
  },
  'are rejected if two budgets select the pod': async fixture => {
    const { http, group } = fixture
    await guarded(fixture)
    await setReady(fixture, 'True')
    await http.post(group('policy/v1', budgets), {
      metadata: { name: 'c' },
      spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'x' } } },
    })
    const rejected = await evict(fixture)
    assert.equal(rejected.status, 500)
    assert.equal(
      rejected.at('message'),
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    )
  },
})
