// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type EmbeddedCluster, startEmbedded } from '../testing/embedded-cluster.ts'
import { call } from '../testing/grove-call.ts'
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

  it('apply suggests the kind of Grove that a misspelt one means', async () => {
    for (const kind of ['PodCliqueset', 'PodCliqueSets', 'PodClickeSet', 'PodCliqeuSet', 'pcs']) {
      const input = `apiVersion: grove.io/v1alpha1\nkind: ${kind}\nmetadata: {name: llm}\n`
      const { status, stderr } = await call(['apply', '-f', '-', '--kubeconfig', cluster.kubeconfig], {
        input,
      })
      assert.equal(status, 1)
      assert.match(stderr, new RegExp(`serves no ${kind} of grove.io/v1alpha1; did you mean PodCliqueSet\\?`))
    }
  })
})
