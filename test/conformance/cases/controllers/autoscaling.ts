// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import type { Answer } from '../../http.ts'
import { at } from '../../json.ts'
import { deployment } from '../../objects.ts'
import { chapter, type Ground } from '../../suite.ts'
import { rolledOut, withAccount } from './grounds.ts'

const plural = 'horizontalpodautoscalers'

/** An autoscaler of a deployment, and its condition of that type once it has one. */
async function conditionOf(
  { http, group, eventually }: Ground,
  target: string,
  type: string,
): Promise<unknown> {
  await http.post(group('autoscaling/v2', plural), {
    metadata: { name: 'a' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: target },
      maxReplicas: 3,
    },
  })
  const find = (answer: Answer) =>
    ((answer.at('status.conditions') ?? []) as object[]).find(each => at(each, 'type') === type)
  const judged = await eventually(
    () => http.get(group('autoscaling/v2', `${plural}/a`)),
    answer => find(answer) !== undefined,
  )
  return find(judged)
}

export const autoscaling = chapter('autoscaling', {
  'what is not there is not scaled': async ground => {
    const condition = await conditionOf(ground, 'nowhere', 'AbleToScale')
    assert.equal(at(condition, 'status'), 'False')
    assert.equal(at(condition, 'reason'), 'FailedGetScale')
    assert.equal(
      at(condition, 'message'),
      'the HPA controller was unable to get the target\'s current scale: deployments.apps "nowhere" not found',
    )
  },
  'what was scaled to nothing by hand is left alone': async ground => {
    const { http, group } = await withAccount(ground)
    await http.post(group('apps/v1', 'deployments'), deployment('d', { replicas: 0 }))
    const condition = await conditionOf(ground, 'd', 'ScalingActive')
    assert.equal(at(condition, 'status'), 'False')
    assert.equal(at(condition, 'reason'), 'ScalingDisabled')
  },
  'without metrics nothing is scaled, and that is said': async ground => {
    const { http, group } = await withAccount(ground)
    await http.post(group('apps/v1', 'deployments'), deployment('d', { replicas: 1 }))
    await rolledOut(ground, 'deployments/d', 1)
    const condition = await conditionOf(ground, 'd', 'ScalingActive')
    assert.equal(at(condition, 'status'), 'False')
    assert.equal(at(condition, 'reason'), 'FailedGetResourceMetric')
    assert.match(
      String(at(condition, 'message')),
      /^the HPA was unable to compute the replica count: failed to get cpu utilization: /,
    )
  },
})
