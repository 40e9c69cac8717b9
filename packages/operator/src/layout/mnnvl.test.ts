// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { annotation, type Container, type PodSpec } from '@grove/api'
import { clique, group, sampleSet } from '../testing/sample-set.ts'
import { mnnvlGroupOf, mnnvlGroups, usesGpus, withMnnvlClaim } from './mnnvl.ts'

const gpus = (amount: string | number, list: 'limits' | 'requests' = 'limits'): Container => ({
  name: 'engine',
  image: 'registry.example/engine:1',
  resources: { [list]: { 'nvidia.com/gpu': amount } },
})
const plain: Container = { name: 'plain', image: 'registry.example/plain:1' }

const annotated = (value: string | undefined) =>
  value === undefined ? {} : { annotations: { [annotation.mnnvlGroup]: value } }

function setWith(ofSet?: string, ofGroup?: string, ofClique?: string, containers = [gpus(1)]) {
  const { spec, name } = clique('m')
  const set = sampleSet({
    cliques: [{ name, ...annotated(ofClique), spec: { ...spec, podSpec: { containers } as PodSpec } }],
    groups: [{ ...group('g', ['m']), ...annotated(ofGroup) }],
  })
  return { ...set, metadata: { ...set.metadata, ...annotated(ofSet) } }
}

test('the annotation closest to the clique decides; "none" ends the search', () => {
  const table: [set?: string, group?: string, clique?: string, joins?: string][] = [
    ['g', undefined, undefined, 'g'],
    ['g', undefined, 'h', 'h'],
    ['g', undefined, 'none', undefined],
    ['g', 'none', undefined, undefined],
    ['g', 'none', 'g', 'g'],
    ['g', 't', undefined, 't'],
    [undefined, undefined, 'h', 'h'],
    [undefined, undefined, undefined, undefined],
  ]
  for (const [ofSet, ofGroup, ofClique, joins] of table) {
    const set = setWith(ofSet, ofGroup, ofClique)
    assert.equal(mnnvlGroupOf(set, set.spec.template.cliques[0]!), joins, `${ofSet} ${ofGroup} ${ofClique}`)
  }
})

test('a clique without GPUs joins no group, whatever its annotations say', () => {
  const set = setWith('g', 't', 'h', [plain])
  assert.equal(mnnvlGroupOf(set, set.spec.template.cliques[0]!), undefined)
  assert.deepEqual(mnnvlGroups(set), [])
})

test('lists every NVLink group of a set once', () => {
  const one = setWith('g').spec.template.cliques[0]!
  const set = sampleSet({
    cliques: [
      { ...one, name: 'a', ...annotated('x') },
      { ...one, name: 'b', ...annotated('y') },
      { ...one, name: 'c', ...annotated('x') },
    ],
  })
  assert.deepEqual(mnnvlGroups(set), ['x', 'y'])
})

describe('GPUs', () => {
  const cases: [what: string, spec: Partial<PodSpec>, has: boolean][] = [
    ['in limits', { containers: [gpus('1')] }, true],
    ['in requests', { containers: [gpus('1', 'requests')] }, true],
    ['as a number', { containers: [gpus(4)] }, true],
    ['of an init container', { containers: [plain], initContainers: [gpus(1)] }, true],
    ['with an amount of zero', { containers: [gpus('0'), gpus(0, 'requests')] }, false],
    [
      'of another name',
      { containers: [{ ...plain, resources: { limits: { 'nvidia.com/mig-1g.5gb': '1' } } }] },
      false,
    ],
    ['by a claim', { containers: [{ ...plain, resources: { claims: [{ name: 'gpu' }] } }] }, false],
  ]
  for (const [what, spec, has] of cases)
    test(`${what} ${has ? 'count' : 'do not count'}`, () => assert.equal(usesGpus(spec as PodSpec), has))
})

test('leaves an existing claim of that name alone, and is idempotent', () => {
  const own = { containers: [gpus(1)], resourceClaims: [{ name: 'mnnvl-claim' }] } as PodSpec
  assert.equal(withMnnvlClaim(own, 'w', 0, 'g'), own)
  const once = withMnnvlClaim({ containers: [gpus(1)] } as PodSpec, 'w', 0, 'g')
  assert.equal(withMnnvlClaim(once, 'w', 0, 'g'), once)
})
