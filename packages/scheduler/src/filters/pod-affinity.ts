// SPDX-License-Identifier: Apache-2.0
import type { LabelSelector, PodAffinityTerm, TopologySpreadConstraint } from '@grove/api'
import { type LabelSelectorObject, labelSelectorOf, matchesLabels } from '@grove/apimachinery'
import type { Labels, SnapshotPod } from '../types.ts'

/** A pod as the selectors of pod affinity see it. */
export interface SelectablePod {
  readonly namespace: string
  readonly labels: Labels
}

/** Reports whether a term of `owner` selects `target`. A selector that cannot be read selects nothing. */
export function termSelects(
  term: PodAffinityTerm,
  owner: SelectablePod,
  target: SelectablePod,
  namespaceLabels: ReadonlyMap<string, Labels>,
): boolean {
  return (
    selectsNamespace(term, owner, target.namespace, namespaceLabels) &&
    selectsLabels(term, owner, target.labels)
  )
}

function selectsNamespace(
  { namespaces = [], namespaceSelector }: PodAffinityTerm,
  owner: SelectablePod,
  namespace: string,
  namespaceLabels: ReadonlyMap<string, Labels>,
): boolean {
  if (namespaces.includes(namespace)) return true
  if (!namespaceSelector) return namespaces.length === 0 && namespace === owner.namespace
  return matches(namespaceSelector, namespaceLabels.get(namespace) ?? {})
}

/** The API server merges matchLabelKeys into the selector; manifests that are not applied yet still have them. */
function selectsLabels(term: PodAffinityTerm, owner: SelectablePod, labels: Labels): boolean {
  if (!term.labelSelector || !matches(term.labelSelector, labels)) return false
  const has = (key: string) => Object.hasOwn(owner.labels, key)
  return (
    (term.matchLabelKeys ?? []).filter(has).every(key => labels[key] === owner.labels[key]) &&
    (term.mismatchLabelKeys ?? []).filter(has).every(key => labels[key] !== owner.labels[key])
  )
}

/** Reports whether a spread constraint of `owner` counts `target`. */
export function spreadSelects(
  { labelSelector, matchLabelKeys = [] }: TopologySpreadConstraint,
  owner: SelectablePod,
  target: SelectablePod,
): boolean {
  if (target.namespace !== owner.namespace || !labelSelector || !matches(labelSelector, target.labels))
    return false
  return matchLabelKeys
    .filter(key => Object.hasOwn(owner.labels, key))
    .every(key => target.labels[key] === owner.labels[key])
}

export function matches(selector: LabelSelector, labels: Labels): boolean {
  const read = labelSelectorOf(selector as LabelSelectorObject)
  return read.ok && matchesLabels(read.selector, labels)
}

/** Label keys that pod affinity and spread constraints of any of these pods read. */
export function keysReadBy(pods: readonly SnapshotPod[]): string[] {
  const keys = new Set<string>()
  for (const { needs } of pods) {
    if (needs.podAffinity.length + needs.podAntiAffinity.length + needs.spread.length === 0) continue
    const mismatched = [...needs.podAffinity, ...needs.podAntiAffinity].flatMap(
      term => term.mismatchLabelKeys ?? [],
    )
    for (const key of mismatched) keys.add(key)
    for (const rule of [...needs.podAffinity, ...needs.podAntiAffinity, ...needs.spread]) {
      for (const key of Object.keys(rule.labelSelector?.matchLabels ?? {})) keys.add(key)
      for (const { key } of rule.labelSelector?.matchExpressions ?? []) keys.add(key)
      for (const key of rule.matchLabelKeys ?? []) keys.add(key)
      // A rule with an empty selector reads no label, but its namespace matters.
      keys.add('')
    }
  }
  return [...keys].sort()
}
