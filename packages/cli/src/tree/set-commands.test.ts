// SPDX-License-Identifier: Apache-2.0

import { after, before, describe } from 'node:test'
import { type EmbeddedCluster, startEmbedded } from '../testing/embedded-cluster.ts'
import { testSetCommands } from '../testing/set-commands.ts'

describe('sets of the embedded cluster', () => {
  let cluster: EmbeddedCluster

  before(async () => {
    cluster = await startEmbedded()
  })
  after(() => cluster?.stop())

  testSetCommands(
    () => cluster.kubeconfig,
    () => cluster.newNamespace(),
  )
})
