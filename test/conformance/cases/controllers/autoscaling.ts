// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import type { Response } from '../../http.ts'
import { at } from '../../json.ts'
import { deployment } from '../../objects.ts'
import { chapter, type Fixture } from '../../suite.ts'
import { rolledOut, withAccount } from './waits.ts'

const plural = 'horizontalpodautoscalers'

const scale = ({ http, group }: Fixture, target: string) =>
  http.post(group('autoscaling/v2', plural), {
    metadata: { name: target },
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: target }, maxReplicas: 3 },
  })

/** Waits for a condition of the autoscaler of a deployment. */
async function conditionOf(
  { http, group, eventually }: Fixture,
  target: string,
  type: string,
): Promise<unknown> {
  const find = (response: Response) =>
    ((response.at('status.conditions') ?? []) as object[]).find(each => at(each, 'type') === type)
  const found = await eventually(
    () => http.get(group('autoscaling/v2', `${plural}/${target}`)),
    response => find(response) !== undefined,
  )
  return find(found)
}

export const autoscaling = chapter('autoscaling', {
  // One case for all, because the first sync of the controller takes time.
  'does not scale a target that does not exist, has zero replicas or has no metrics, and reports the reason':
    async fixture => {
      const { http, group } = await withAccount(fixture)
      await http.post(group('apps/v1', 'deployments'), deployment('stopped', { replicas: 0 }))
      await http.post(group('apps/v1', 'deployments'), deployment('unmeasured', { replicas: 1 }))
      await rolledOut(fixture, 'deployments/unmeasured', 1)
      for (const target of ['nowhere', 'stopped', 'unmeasured']) await scale(fixture, target)

      const nowhere = await conditionOf(fixture, 'nowhere', 'AbleToScale')
      assert.equal(at(nowhere, 'status'), 'False')
      assert.equal(at(nowhere, 'reason'), 'FailedGetScale')
      assert.equal(
        at(nowhere, 'message'),
        'the HPA controller was unable to get the target\'s current scale: deployments.apps "nowhere" not found',
      )
      const stopped = await conditionOf(fixture, 'stopped', 'ScalingActive')
      assert.equal(at(stopped, 'status'), 'False')
      assert.equal(at(stopped, 'reason'), 'ScalingDisabled')
      const unmeasured = await conditionOf(fixture, 'unmeasured', 'ScalingActive')
      assert.equal(at(unmeasured, 'status'), 'False')
      assert.equal(at(unmeasured, 'reason'), 'FailedGetResourceMetric')
      assert.match(
        String(at(unmeasured, 'message')),
        /^the HPA was unable to compute the replica count: failed to get cpu utilization: /,
      )
    },
})
