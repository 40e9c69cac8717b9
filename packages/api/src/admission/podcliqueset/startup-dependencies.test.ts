// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { clique, errorsOf, sampleSet } from '../../testing/sample-sets.ts'
import type { PodCliqueSet } from '../../types/index.ts'
import { dependencyCycles } from './startup-dependencies.ts'

/** `{ b: ['a'] }`: b starts after a. */
type Graph = Readonly<Record<string, readonly string[]>>

function cliquesOf(graph: Graph): ReturnType<typeof clique>[] {
  return Object.entries(graph).map(([name, startsAfter]) => clique(name, { startsAfter: [...startsAfter] }))
}

function setOf(
  graph: Graph,
  cliqueStartupType: PodCliqueSet['spec']['template']['cliqueStartupType'] = 'CliqueStartupTypeExplicit',
): PodCliqueSet {
  return sampleSet({ cliqueStartupType, cliques: cliquesOf(graph) })
}

const at = (index: number): string => `spec.template.cliques[${index}].spec.startsAfter`
const unknown = (names: string): string =>
  `spec.template.cliques.startsAfter: Invalid value: "${names}": unknown clique names found, all clique dependencies must be defined as cliques`
const cycles = (components: string): string =>
  `spec.template.cliques: Invalid value: ${components}: clique must not have circular dependencies`

const cases: [title: string, graph: Graph, expected: string[]][] = [
  ['nothing to wait for', { a: [], b: [] }, []],
  ['a chain', { a: [], b: ['a'], c: ['b'] }, []],
  ['a diamond', { a: [], b: ['a'], c: ['a'], d: ['b', 'c'] }, []],
  ['itself', { a: ['a'] }, [`${at(0)}: Invalid value: "a": clique dependency cannot refer to itself`]],
  [
    'a blank name, which is unknown as well',
    { a: [], b: [' '] },
    [`${at(1)}: Required value: clique dependency must not be empty`, unknown(' ')],
  ],
  ['a name twice', { a: [], b: ['a', 'a'] }, [`${at(1)}: Duplicate value: ["a"]`]],
  ['unknown names, each time', { a: ['x', 'y'], b: ['x'] }, [unknown('x,y,x')]],
  ['each other', { a: ['b'], b: ['a'] }, [cycles('[["a","b"]]')]],
  [
    'each other in a ring, with one outside',
    { d: ['a'], a: ['b'], b: ['c'], c: ['a'] },
    [cycles('[["a","b","c"]]')],
  ],
  [
    'each other in two rings, in the order of the list',
    { d: ['c'], b: ['a'], c: ['d'], a: ['b'] },
    [cycles('[["d","c"],["b","a"]]')],
  ],
  ['each other and an unknown clique', { a: ['b', 'x'], b: ['a'] }, [unknown('x'), cycles('[["a","b"]]')]],
]

describe('with explicit startup, a clique that waits for', () => {
  for (const [title, graph, expected] of cases) {
    test(title, () => {
      assert.deepEqual(errorsOf(setOf(graph)), expected)
    })
  }
})

describe('with another startup type startsAfter is not validated', () => {
  for (const type of ['CliqueStartupTypeAnyOrder', 'CliqueStartupTypeInOrder'] as const) {
    for (const [title, graph] of cases) {
      test(`${type}: ${title}`, () => {
        assert.deepEqual(errorsOf(setOf(graph, type)), [])
      })
    }
  }
})

describe('cycles', () => {
  const ring = (size: number): ReturnType<typeof clique>[] =>
    Array.from({ length: size }, (_, index) =>
      clique(`c${index}`, { startsAfter: [`c${(index + 1) % size}`] }),
    )

  test('of ten thousand cliques are found without a stack overflow', () => {
    const found = dependencyCycles(ring(10_000))
    assert.equal(found.length, 1)
    assert.equal(found[0]?.length, 10_000)
  })

  test('are exactly the sets of cliques that reach each other', () => {
    const graphs = fc
      .integer({ min: 1, max: 7 })
      .chain(size =>
        fc.array(fc.array(fc.nat(size - 1), { maxLength: 3 }), { minLength: size, maxLength: size }),
      )
    fc.assert(
      fc.property(graphs, edges => {
        const cliques = edges.map((targets, index) =>
          clique(`c${index}`, { startsAfter: targets.map(target => `c${target}`) }),
        )
        assert.deepEqual(dependencyCycles(cliques), mutuallyReachable(edges))
      }),
      { numRuns: 500 },
    )
  })
})

/** A reference implementation by plain reachability. */
function mutuallyReachable(edges: readonly (readonly number[])[]): string[][] {
  const reach = edges.map((_, start) => {
    const seen = new Set<number>()
    const todo = [...edges[start]!]
    for (let node = todo.pop(); node !== undefined; node = todo.pop()) {
      if (seen.has(node)) continue
      seen.add(node)
      todo.push(...edges[node]!)
    }
    return seen
  })
  const components = new Map<string, string[]>()
  edges.forEach((_, a) => {
    const members = edges.map((__, b) => b).filter(b => a === b || (reach[a]!.has(b) && reach[b]!.has(a)))
    if (members.length > 1)
      components.set(
        members.join(),
        members.map(member => `c${member}`),
      )
  })
  return [...components.values()]
}
