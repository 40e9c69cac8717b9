// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clique, errorsOf, sampleSet } from '../../testing/sample-sets.ts'
import type { ResourceSharing } from '../../types/index.ts'

interface Sharing {
  readonly set?: ResourceSharing[]
  readonly group?: ResourceSharing[]
  readonly member?: ResourceSharing[]
  readonly solo?: ResourceSharing[]
}

function validate({ set, group, member, solo }: Sharing): string[] {
  return errorsOf(
    sampleSet({
      ...(set && { resourceSharing: set }),
      cliques: [
        clique('x', {}, { ...(solo && { resourceSharing: solo }) }),
        clique('m', {}, { ...(member && { resourceSharing: member }) }),
      ],
      podCliqueScalingGroups: [
        {
          name: 'g',
          cliqueNames: ['m'],
          replicas: 1,
          minAvailable: 1,
          ...(group && { resourceSharing: group }),
        },
      ],
    }),
  )
}

const each = (name: string): ResourceSharing => ({ name, scope: 'PerReplica' })
const all = (name: string): ResourceSharing => ({ name, scope: 'AllReplicas' })

test('claims of different levels have different names', () => {
  assert.deepEqual(
    validate({ set: [each('t'), all('u')], group: [each('t')], member: [all('t')], solo: [all('t')] }),
    [],
  )
  const collisions: Sharing[] = [
    { set: [each('x-all-y')], solo: [all('y')] },
    { set: [each('g-0-t')], group: [each('t')] },
    { set: [each('g-7-t')], group: [each('t')] },
    { group: [each('m-all-t')], member: [all('t')] },
    { set: [each('g-0-m-2-t')], member: [each('t')] },
    { set: [each('g-1-m-all-t')], member: [all('t')] },
    { set: [each('g-12345-m-3-t')], member: [each('t')] },
    { group: [each('m-2-t')], member: [each('t')] },
  ]
  for (const sharing of collisions)
    assert.match(
      validate(sharing).join(),
      /its ResourceClaim would have the name .*, like a ResourceClaim of/,
    )
})

test('claims have valid object names', () => {
  const ofSet = 'its ResourceClaim would have the name .*: a lowercase RFC 1123 subdomain must consist of'
  const possible: Sharing[] = [{ set: [each('a.b-c')] }, { member: [all('t'.repeat(200))] }]
  for (const sharing of possible) assert.deepEqual(validate(sharing), [])
  const impossible: Sharing[] = [
    { set: [each('Upper')] },
    { group: [all('under_score')] },
    { solo: [each('end-')] },
  ]
  for (const sharing of impossible) assert.match(validate(sharing).join(), new RegExp(ofSet))
  assert.match(validate({ member: [all('t'.repeat(250))] }).join(), /must be no more than 253/)
})
