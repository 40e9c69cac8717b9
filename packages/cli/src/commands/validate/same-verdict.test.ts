// SPDX-License-Identifier: Apache-2.0

import { after, before, describe } from 'node:test'
import { type Client, createClient, loadKubeconfig } from '@grove/kube'
import { type EmbeddedCluster, startEmbedded } from '../../testing/embedded-cluster.ts'
import { testMemberScaling } from '../../testing/member-scaling.ts'
import { compareVerdicts } from '../../testing/same-verdict.ts'

describe('validate and the embedded cluster return the same verdict', () => {
  let cluster: EmbeddedCluster
  let client: Client

  before(async () => {
    cluster = await startEmbedded(0)
    client = createClient(loadKubeconfig({ path: cluster.kubeconfig }))
  })
  after(async () => {
    await client?.close()
    await cluster?.stop()
  })

  compareVerdicts(() => client)
  testMemberScaling(() => cluster)
})
