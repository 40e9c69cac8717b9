// SPDX-License-Identifier: Apache-2.0
import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm } from '@grove/api'
import type { Labels, PodNeeds, SnapshotNode } from '../types.ts'

/** One of the terms must match. A selector without terms, and a term without requirements, match no node. */
export function matchesNodeSelector(selector: NodeSelector, node: SnapshotNode): boolean {
  return (selector.nodeSelectorTerms ?? []).some(term => matchesTerm(term, node))
}

function matchesTerm(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  node: SnapshotNode,
): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false
  const fields = { 'metadata.name': node.name }
  return (
    matchExpressions.every(requirement => meets(node.labels, requirement)) &&
    matchFields.every(requirement => meets(fields, requirement))
  )
}

function meets(labels: Labels, { key, operator, values = [] }: NodeSelectorRequirement): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'Gt':
    case 'Lt': {
      const left = integer(value)
      const right = integer(values[0])
      if (left === undefined || right === undefined) return false
      return operator === 'Gt' ? left > right : left < right
    }
    default:
      return false
  }
}

function integer(text: string | undefined): bigint | undefined {
  return text !== undefined && /^[+-]?\d{1,18}$/.test(text) ? BigInt(text.replace('+', '')) : undefined
}

/** Node selector and required node affinity. */
export function selectsNode({ nodeSelector, nodeAffinity }: PodNeeds, node: SnapshotNode): boolean {
  for (const [key, value] of Object.entries(nodeSelector))
    if (!Object.hasOwn(node.labels, key) || node.labels[key] !== value) return false
  return nodeAffinity === undefined || matchesNodeSelector(nodeAffinity, node)
}
