// SPDX-License-Identifier: Apache-2.0

import { after, before, describe } from 'node:test'
import { type EmbeddedCluster, startEmbedded } from '../testing/embedded-cluster.ts'
import { tellVerbs } from './verbs.fixture.ts'

describe('the verbs of kubectl on the embedded cluster', () => {
  let cluster: EmbeddedCluster

  before(async () => {
    cluster = await startEmbedded()
  })
  after(() => cluster?.stop())

  tellVerbs(
    () => cluster.kubeconfig,
    () => cluster.newNamespace(),
  )
})
