// SPDX-License-Identifier: Apache-2.0

import { after, before, describe, test } from 'node:test'
import { type Kubernetes, startKubernetes } from '@grove/test-kubernetes'
import { adminClient } from './admin-client.ts'
import { installCustomResources } from './custom-kinds.ts'
import { type OperatorProcess, startOperatorProcess } from './operator-process.ts'
import {
  exemptUserNames,
  type Place,
  protectClaims,
  protectStatus,
  removeUnreadable,
  repairUnreadable,
  storeUnreadable,
} from './served-admission.ts'

describe('the webhooks of an operator process on real Kubernetes', () => {
  let kubernetes: Kubernetes
  let operator: OperatorProcess
  let place: Place

  before(async () => {
    kubernetes = await startKubernetes({ nodes: 2 })
    const client = adminClient(kubernetes)
    await installCustomResources(client)
    place = { client, namespace: await kubernetes.newNamespace('team') }
    await storeUnreadable(place)
    operator = await startOperatorProcess(kubernetes, {
      configuration: { authorizer: { enabled: true, exemptServiceAccountUserNames: exemptUserNames } },
    })
  })
  after(async () => {
    operator?.kill()
    await place?.client.close()
    await kubernetes?.stop()
  })

  test('allow the deletion of a set that they cannot parse', () => removeUnreadable(place))
  test('allow the repair of a set that they cannot parse', () => repairUnreadable(place))
  test('protect shared claims from deletion, but allow updates by the scheduler', () => protectClaims(place))
  test('protect the status of cliques, but allow schedulers to update the status of gangs', () =>
    protectStatus(place))
})
