// SPDX-License-Identifier: Apache-2.0

import type { LabelSelector, NodeSelectorRequirement, NodeSelectorTerm } from '../schema/types.generated.ts'

export type Labels = Readonly<Record<string, string>>
export type LabelTest = (labels: Labels) => boolean

const nothing: LabelTest = () => false
/** Selectors belong to immutable objects, so each is compiled once. */
const compiled = new WeakMap<LabelSelector, LabelTest>()

/**
 * An absent selector matches nothing, an empty one everything, as in pod affinity, spread constraints and
 * budgets.
 */
export function labelTest(selector: LabelSelector | undefined): LabelTest {
  if (!selector) return nothing
  let test = compiled.get(selector)
  if (!test) {
    test = compile(selector)
    compiled.set(selector, test)
  }
  return test
}

function compile({ matchLabels = {}, matchExpressions = [] }: LabelSelector): LabelTest {
  const pairs = Object.entries(matchLabels)
  const requirements = matchExpressions.map(requirementTest)
  return labels =>
    pairs.every(([key, value]) => labels[key] === value) && requirements.every(test => test(labels))
}

/** One requirement of a label selector or node selector. Only node selectors have `Gt` and `Lt`. */
function requirementTest({ key = '', operator, values = [] }: NodeSelectorRequirement): LabelTest {
  switch (operator) {
    case 'In':
      return labels => labels[key] !== undefined && values.includes(labels[key])
    case 'NotIn':
      return labels => labels[key] === undefined || !values.includes(labels[key])
    case 'Exists':
      return labels => labels[key] !== undefined
    case 'DoesNotExist':
      return labels => labels[key] === undefined
    case 'Gt':
      return labels => integerOf(labels[key]) > integerOf(values[0])
    case 'Lt':
      return labels => integerOf(labels[key]) < integerOf(values[0])
    default:
      return nothing
  }
}

function integerOf(text: string | undefined): number {
  return text !== undefined && /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN
}

/**
 * A term of a node selector: all requirements on labels and on the node name. An empty term matches nothing.
 */
export function nodeTermTest(term: NodeSelectorTerm): (node: { name: string; labels: Labels }) => boolean {
  const expressions = (term.matchExpressions ?? []).map(requirementTest)
  const fields = (term.matchFields ?? []).map(requirementTest)
  if (expressions.length + fields.length === 0) return () => false
  return ({ name, labels }) =>
    expressions.every(test => test(labels)) && fields.every(test => test({ 'metadata.name': name }))
}
