// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { label } from '@grove/api'
import { standaloneCliques } from '../layout/layout.ts'
import type { StoredClique, StoredSet } from '../layout/stored.ts'
import { podClique } from '../objects/clique.ts'
import { revisionOf } from '../revision/set-revision.ts'
import { clique, samplePod, sampleSet } from '../testing/sample-set.ts'
import { planCliqueUpdate } from './clique-update.ts'

test('a clique without the announced template starts no update, because its pods would be replaced twice', () => {
  const plain = sampleSet({ cliques: [clique('web')] })
  const { generationHash, templateHashes } = revisionOf(plain)
  const set: StoredSet = {
    ...plain,
    status: {
      availableReplicas: 0,
      updatedReplicas: 0,
      currentGenerationHash: generationHash,
      updateProgress: { updateStartedAt: '', currentlyUpdating: [{ replicaIndex: 0 }] },
    },
  }
  const [instance] = standaloneCliques(set, 0)
  const progressOf = (hash: string) => {
    const stored = podClique(set, instance!, set, hash) as StoredClique
    assert.equal(stored.metadata.labels?.[label.podTemplateHash], hash)
    return planCliqueUpdate(set, stored, instance!, [samplePod('a', { hash: 'z1-oldest' })], 0).progress
  }
  assert.equal(progressOf('z1-old'), undefined)
  assert.equal(progressOf(templateHashes.web!)?.podTemplateHash, templateHashes.web)
})
