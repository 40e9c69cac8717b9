// SPDX-License-Identifier: Apache-2.0

// Names are compared as patterns. These properties compare that result with the result of generating every name.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { names } from '../../names.ts'
import { clique, sampleSet } from '../../testing/sample-sets.ts'
import type { PodCliqueSet, ResourceSharing } from '../../types/index.ts'
import { collidingClaims } from './claim-names.ts'
import { clashingNames } from './clashing-names.ts'

/** Few texts and few numbers, so that names often collide. */
const segment = fc.oneof(
  { weight: 16, arbitrary: fc.constantFrom('a', '0', '1') },
  { weight: 1, arbitrary: fc.constantFrom('01', 'all') },
)
const part = fc
  .array(segment, { minLength: 1, maxLength: 4, size: 'max' })
  .map(segments => segments.join('-'))
const template = fc.array(segment, { minLength: 1, maxLength: 5, size: 'max' })
const sharing: fc.Arbitrary<ResourceSharing[]> = fc.array(
  fc.record({
    name: template.map(segments => segments.join('-')),
    scope: fc.constantFrom<ResourceSharing['scope']>('AllReplicas', 'PerReplica'),
  }),
  { maxLength: 3 },
)

const sets: fc.Arbitrary<PodCliqueSet> = fc
  .record({
    resourceSharing: sharing,
    cliques: fc.uniqueArray(fc.record({ name: part, group: fc.nat(4), sharing, scaled: fc.boolean() }), {
      minLength: 3,
      maxLength: 10,
      size: 'max',
      selector: ({ name }) => name,
    }),
    groups: fc.uniqueArray(fc.record({ name: part, sharing, scaled: fc.boolean() }), {
      minLength: 1,
      maxLength: 4,
      size: 'max',
      selector: ({ name }) => name,
    }),
  })
  .map(({ resourceSharing, cliques, groups }) =>
    sampleSet({
      resourceSharing,
      cliques: cliques.map(one =>
        clique(
          one.name,
          { ...(one.scaled && { autoScalingConfig: { maxReplicas: 3 } }) },
          { resourceSharing: one.sharing },
        ),
      ),
      podCliqueScalingGroups: groups.map((one, index) => ({
        name: one.name,
        cliqueNames: cliques.filter(({ group }) => group === index).map(({ name }) => name),
        resourceSharing: one.sharing,
        ...(one.scaled && { scaleConfig: { maxReplicas: 3 } }),
      })),
    }),
  )

/** Every number that occurs in a name. All other indexes behave like zero. */
const indexes = [0, 1]

/** All claim names of each entry, with entries in the order of reported errors. */
function generatedClaims({ metadata, spec }: PodCliqueSet): Map<string, Set<string>> {
  const { resourceSharing = [], cliques, podCliqueScalingGroups: groups = [] } = spec.template
  const found = new Map<string, Set<string>>()
  const add = (field: string, owners: readonly string[], entries: readonly ResourceSharing[] = []): void =>
    entries.forEach(({ name, scope }, at) => {
      const claims = owners.flatMap(owner =>
        scope === 'AllReplicas'
          ? [names.claimForAllReplicas(owner, name)]
          : indexes.map(index => names.claimPerReplica(owner, index, name)),
      )
      found.set(`${field}.resourceSharing[${at}]`, new Set(claims))
    })
  add('spec.template', [metadata.name], resourceSharing)
  const groupName = (group: string): string => names.scalingGroup(metadata.name, 0, group)
  groups.forEach(({ name, resourceSharing: entries }, at) => {
    add(`spec.template.podCliqueScalingGroups[${at}]`, [groupName(name)], entries)
  })
  cliques.forEach(({ name, resourceSharing: entries }, at) => {
    const group = groups.find(({ cliqueNames }) => cliqueNames.includes(name))
    const owners = group
      ? indexes.map(index => names.memberClique(groupName(group.name), index, name))
      : [names.standaloneClique(metadata.name, 0, name)]
    add(`spec.template.cliques[${at}]`, owners, entries)
  })
  return found
}

const runs = { numRuns: 5000 }

test('claims collide exactly if the generated names collide', () => {
  let collisions = 0
  fc.assert(
    fc.property(sets, set => {
      const claims = [...generatedClaims(set)]
      const expected = claims.flatMap(([field, own], at) =>
        claims.slice(0, at).some(([, others]) => !own.isDisjointFrom(others)) ? [`${field}.name`] : [],
      )
      const errors = collidingClaims(set)
      assert.deepEqual(
        errors.map(({ field }) => field),
        expected,
      )
      for (const { field, detail } of errors) {
        const [, claim, maker] = /have the name "(.*)", like a ResourceClaim of (.*)$/.exec(detail)!
        for (const entry of [field.replace(/\.name$/, ''), maker!])
          assert.ok(generatedClaims(set).get(entry)?.has(claim!), `${entry} makes no ${claim}`)
      }
      collisions += expected.length
    }),
    runs,
  )
  assert.ok(collisions > 100, `only ${collisions} collisions were tried`)
})

test('PodCliques collide exactly if the generated names collide', () => {
  let clashes = 0
  fc.assert(
    fc.property(sets, set => {
      const { cliques, podCliqueScalingGroups: groups = [] } = set.spec.template
      const members = new Set(groups.flatMap(({ cliqueNames }) => cliqueNames))
      const made: [owner: string, names: Set<string>][] = [
        ...cliques
          .filter(({ name }) => !members.has(name))
          .map(({ name }): [string, Set<string>] => [name, new Set([names.standaloneClique('s', 0, name)])]),
        ...groups.map(({ name, cliqueNames }): [string, Set<string>] => {
          const own = names.scalingGroup('s', 0, name)
          const all = cliqueNames.flatMap(member =>
            indexes.map(index => names.memberClique(own, index, member)),
          )
          return [name, new Set(all)]
        }),
      ]
      const expected = groups.flatMap(({ name }, at) => {
        const position = made.length - groups.length + at
        const other = made.slice(0, position).find(([, own]) => !own.isDisjointFrom(made[position]![1]))
        return other
          ? [
              [
                `spec.template.podCliqueScalingGroups[${at}].name`,
                name,
                `its PodCliques would have the same names as those of ${other[0]}`,
              ],
            ]
          : []
      })
      const found = clashingNames(set).filter(({ detail }) => !detail.includes('autoscaler'))
      assert.deepEqual(
        found.map(({ field, value, detail }) => [field, value, detail]),
        expected,
      )
      clashes += expected.length
    }),
    runs,
  )
  assert.ok(clashes > 10, `only ${clashes} clashes were tried`)
})
