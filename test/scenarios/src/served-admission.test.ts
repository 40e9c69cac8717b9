// SPDX-License-Identifier: Apache-2.0

import { after, before, describe, test } from 'node:test'
import { inProcessTransport } from '@grove/cluster'
import { createClientOn } from '@grove/kube'
import { type EmbeddedCluster, startEmbeddedCluster } from './embedded-cluster.ts'
import { type EmbeddedHost, serveEmbedded } from './embedded-host.ts'
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

describe('the webhooks of an operator process on the embedded cluster', () => {
  let embedded: EmbeddedCluster
  let host: EmbeddedHost
  let operator: OperatorProcess
  let place: Place

  before(async () => {
    embedded = await startEmbeddedCluster({ nodes: 2 })
    host = await serveEmbedded(embedded)
    const alice = inProcessTransport(embedded.cluster.handle, { name: 'alice', groups: ['system:masters'] })
    place = { client: createClientOn(alice), namespace: await embedded.newNamespace('team') }
    await storeUnreadable(place)
    operator = await startOperatorProcess(host, {
      configuration: {
        authorizer: {
          enabled: true,
          exemptServiceAccountUserNames: exemptUserNames,
          // Every client uses the same kubeconfig here.
          reconcilerServiceAccountUserName: 'kubernetes-admin',
        },
      },
    })
  })
  after(async () => {
    operator?.kill()
    await host?.stop()
    await embedded?.stop()
  })

  test('allow the deletion of a set that they cannot parse', () => removeUnreadable(place))
  test('allow the repair of a set that they cannot parse', () => repairUnreadable(place))
  test('protect shared claims from deletion, but allow updates by the scheduler', () => protectClaims(place))
  test('protect the status of cliques, but allow schedulers to update the status of gangs', () =>
    protectStatus(place))
})
