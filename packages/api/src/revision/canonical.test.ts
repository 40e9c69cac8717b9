// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { canonicalSetTemplate } from './canonical.ts'
import { generationHash, podTemplateHash } from './hash.ts'

type Members = Record<string, unknown>

const clique = (name: string, image: string, members: Members = {}) => ({
  name,
  spec: { replicas: 1, podSpec: { containers: [{ name: 'main', image }] }, ...members },
})
const a = clique('a', 'a:1')
const b = clique('b', 'b:1')
const generation = (cliques: unknown[], members: Members = {}) =>
  generationHash({ template: { cliques, ...members } })

test('the order of cliques counts only with in-order startup', () => {
  for (const cliqueStartupType of [undefined, 'CliqueStartupTypeAnyOrder', 'CliqueStartupTypeExplicit'])
    assert.equal(generation([a, b], { cliqueStartupType }), generation([b, a], { cliqueStartupType }))
  const inOrder = { cliqueStartupType: 'CliqueStartupTypeInOrder' }
  assert.notEqual(generation([a, b], inOrder), generation([b, a], inOrder))
})

test('startsAfter counts, as a set, only with explicit startup', () => {
  const after = (...names: string[]) => [a, b, clique('c', 'c:1', { startsAfter: names })]
  const explicit = { cliqueStartupType: 'CliqueStartupTypeExplicit' }
  assert.equal(generation(after('a')), generation(after()))
  assert.notEqual(generation(after('a'), explicit), generation(after(), explicit))
  assert.equal(generation(after('a', 'b'), explicit), generation(after('b', 'a', 'b'), explicit))
})

test('both priority classes count, independently', () => {
  const own = clique('a', 'a:1')
  Object.assign(own.spec.podSpec, { priorityClassName: 'high' })
  const hashes = [
    generation([a]),
    generation([a], { priorityClassName: 'high' }),
    generation([own]),
    generation([own], { priorityClassName: 'high' }),
  ]
  assert.equal(new Set(hashes).size, 4)
  assert.equal(generation([a], { priorityClassName: '' }), hashes[0])
})

test('labels and annotations count, the topology name does not', () => {
  const labelled = (members: Members) => generation([{ ...a, ...members }])
  assert.notEqual(labelled({ labels: { x: '' } }), labelled({}))
  assert.notEqual(labelled({ annotations: { x: '1' } }), labelled({ labels: { x: '1' } }))
  assert.equal(labelled({ labels: {}, annotations: null }), labelled({}))
  assert.equal(labelled({ annotations: { 'grove.io/topology-name': 't' } }), labelled({}))
})

test('no other field counts', () => {
  const wanted = generation([a, b])
  const scaled = {
    ...a,
    spec: { ...a.spec, replicas: 7, minAvailable: 2, roleName: 'r', autoScalingConfig: { maxReplicas: 9 } },
  }
  assert.equal(generation([scaled, { ...b, topologyConstraint: { pack: {} } }]), wanted)
  assert.equal(
    generation([a, b], { terminationDelay: '1h', podCliqueScalingGroups: [{ name: 'g' }] }),
    wanted,
  )
})

test('the name of a clique is part of the set, not of its pods', () => {
  assert.notEqual(generation([a]), generation([{ ...a, name: 'z' }]))
  assert.equal(podTemplateHash({}, a), podTemplateHash({}, { ...a, name: 'z' }))
})

test('the form is plain JSON', () => {
  assert.deepEqual(canonicalSetTemplate({ template: { priorityClassName: 'p', cliques: [b, a] } }), {
    cliques: [
      { name: 'a', template: { podSpec: a.spec.podSpec, gangPriorityClassName: 'p' } },
      { name: 'b', template: { podSpec: b.spec.podSpec, gangPriorityClassName: 'p' } },
    ],
  })
})
