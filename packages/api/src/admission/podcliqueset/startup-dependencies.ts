// SPDX-License-Identifier: Apache-2.0

import { type FieldError, fieldError, isBlank } from '@grove/apimachinery'
import type { CliqueTemplate } from '../../types/index.ts'
import { path } from './paths.ts'
import { repeatedNames } from './repeated-names.ts'

// `startsAfter` has a meaning only with explicit startup. With other startup types it is accepted without validation.

/** Validates the `startsAfter` list of one clique. */
export function validateStartsAfter(clique: CliqueTemplate, index: number): FieldError[] {
  const field = `${path.clique(index)}.spec.startsAfter`
  const startsAfter = clique.spec.startsAfter ?? []
  const errors: FieldError[] = []
  for (const name of startsAfter) {
    if (isBlank(name)) errors.push(fieldError.required(field, 'clique dependency must not be empty'))
    if (name === clique.name)
      errors.push(fieldError.invalid(field, name, 'clique dependency cannot refer to itself'))
  }
  const repeated = repeatedNames(startsAfter)
  if (repeated.length > 0) errors.push(fieldError.duplicate(field, repeated))
  return errors
}

/** Validates all cliques together: every name exists, and there is no dependency cycle. */
export function validateDependencyGraph(cliques: readonly CliqueTemplate[]): FieldError[] {
  const errors: FieldError[] = []
  const known = new Set(cliques.map(clique => clique.name))
  const unknown = cliques.flatMap(clique => clique.spec.startsAfter ?? []).filter(name => !known.has(name))
  if (unknown.length > 0) {
    errors.push(
      fieldError.invalid(
        `${path.cliques}.startsAfter`,
        unknown.join(','),
        'unknown clique names found, all clique dependencies must be defined as cliques',
      ),
    )
  }
  const cycles = dependencyCycles(cliques)
  if (cycles.length > 0) {
    errors.push(fieldError.invalid(path.cliques, cycles, 'clique must not have circular dependencies'))
  }
  return errors
}

interface Visit {
  readonly node: number
  /** Position of the next edge to follow. */
  next: number
}

/**
 * The strongly connected components of two or more cliques, by Tarjan's algorithm, in the order of the list. It keeps
 * its own stack, because a chain of ten thousand cliques must not overflow the call stack.
 */
export function dependencyCycles(cliques: readonly CliqueTemplate[]): string[][] {
  const positions = new Map<string, number>()
  cliques.forEach((clique, index) => {
    if (!positions.has(clique.name)) positions.set(clique.name, index)
  })
  const edges = cliques.map(clique =>
    (clique.spec.startsAfter ?? [])
      .map(name => positions.get(name))
      .filter(position => position !== undefined),
  )
  const order: (number | undefined)[] = cliques.map(() => undefined)
  const low: number[] = cliques.map(() => 0)
  const open: number[] = []
  const isOpen: boolean[] = cliques.map(() => false)
  const components: number[][] = []
  let count = 0

  const enter = (node: number): Visit => {
    order[node] = low[node] = count++
    open.push(node)
    isOpen[node] = true
    return { node, next: 0 }
  }
  const leave = (node: number): void => {
    if (low[node] !== order[node]) return
    const component = open.splice(open.lastIndexOf(node))
    for (const member of component) isOpen[member] = false
    if (component.length > 1) components.push(component)
  }

  for (let start = 0; start < cliques.length; start++) {
    if (order[start] !== undefined) continue
    const visits = [enter(start)]
    for (let visit = visits.at(-1); visit; visit = visits.at(-1)) {
      const { node } = visit
      const target = edges[node]![visit.next++]
      if (target === undefined) {
        leave(node)
        visits.pop()
        const parent = visits.at(-1)
        if (parent) low[parent.node] = Math.min(low[parent.node]!, low[node]!)
      } else if (order[target] === undefined) {
        visits.push(enter(target))
      } else if (isOpen[target]) {
        low[node] = Math.min(low[node]!, order[target])
      }
    }
  }
  return components
    .map(component => component.sort((a, b) => a - b))
    .sort((a, b) => a[0]! - b[0]!)
    .map(component => component.map(position => cliques[position]!.name))
}
