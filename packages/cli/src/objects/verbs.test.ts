// SPDX-License-Identifier: Apache-2.0

import { after, before, describe } from 'node:test'
import { type EmbeddedCluster, startEmbedded } from '../testing/embedded-cluster.ts'
import { testVerbs } from '../testing/object-commands.ts'

describe('kubectl commands on the embedded cluster', () => {
  let cluster: EmbeddedCluster

  before(async () => {
    cluster = await startEmbedded()
  })
  after(() => cluster?.stop())

  testVerbs(
    () => cluster.kubeconfig,
    () => cluster.newNamespace(),
  )
})
