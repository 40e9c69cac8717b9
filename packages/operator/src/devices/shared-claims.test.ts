// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultConfiguration, managedLabels, setErrorCode } from '@grove/api'
import { FakeClock } from '@grove/kube'
import { resources } from '../caches/resources.ts'
import { claimsOfSet } from '../objects/resource-claim.ts'
import type { OperatorContext } from '../operator-context.ts'
import { clique, sampleSet } from '../testing/sample-set.ts'
import { SimulatedApi } from '../testing/simulation/api.ts'
import { syncSharedClaims } from './shared-claims.ts'

const templateSpec = { spec: { devices: { requests: [] } } }
const set = sampleSet({
  cliques: [clique('a')],
  template: {
    resourceClaimTemplates: [{ name: 'gpu', templateSpec }],
    resourceSharing: [{ name: 'gpu', scope: 'AllReplicas' }],
  },
})
const name = 'w-all-gpu'

/** Reconciles with a claim that already has the name, and returns the result. */
async function outcomeFor(metadata: object) {
  const api = new SimulatedApi(new FakeClock(), { servesOptionalKinds: true })
  const { namespace, uid } = set.metadata
  const before = api.put(resources.resourceClaims, {
    metadata: { name, namespace, ...metadata },
    spec: templateSpec.spec,
  } as never)
  const context = { caches: api.caches, configuration: defaultConfiguration() } as unknown as OperatorContext
  const part = {
    set,
    ownerUid: uid,
    entries: set.spec.template.resourceSharing ?? [],
    wanted: (find: Parameters<typeof claimsOfSet>[2]) => claimsOfSet(set, [0], find),
    code: setErrorCode.syncResourceClaim,
  }
  const { failures } = await syncSharedClaims(part, context, new AbortController().signal)
  const error = failures.map(failure => (failure as Error).message).join()
  return { before, after: api.get(resources.resourceClaims, name), error }
}

for (const [what, metadata] of Object.entries({
  'of another controller': {
    labels: managedLabels('w'),
    ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'theirs', controller: true }],
  },
  'without a controller and without the labels of the operator': {},
  'without a controller and with labels of another set': { labels: managedLabels('v') },
}))
  test(`a claim under a wanted name is reported and not patched: ${what}`, async () => {
    const { before, after, error } = await outcomeFor(metadata)
    assert.deepEqual(after, before)
    assert.match(error, /ResourceClaim w-all-gpu exists and (is controlled by Pod p|does not belong to this)/)
  })

test('an orphaned claim of a set of this name is adopted', async () => {
  const { after, error } = await outcomeFor({ labels: managedLabels('w') })
  assert.equal(error, '')
  assert.deepEqual(
    after?.metadata.ownerReferences?.map(({ uid, controller }) => [uid, controller]),
    [[set.metadata.uid, true]],
  )
})
