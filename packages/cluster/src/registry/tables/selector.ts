// SPDX-License-Identifier: Apache-2.0

import type { LabelSelector } from '../../schema/types.generated.ts'

/** Formats a selector like kubectl: `app=web,tier in (a,b),!legacy`. */
export function formatSelector(selector: LabelSelector | undefined): string {
  if (!selector) return '<none>'
  return selectorText(selector) || '<none>'
}

/** Like `formatSelector`, but empty for a selector that matches everything. */
export function selectorText(selector: LabelSelector | undefined): string {
  const labels = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => ({
    key,
    text: `${key}=${value}`,
  }))
  const expressions = (selector?.matchExpressions ?? []).map(({ key = '', operator, values }) => {
    const list = `(${[...(values ?? [])].sort().join(',')})`
    if (operator === 'In') return { key, text: `${key} in ${list}` }
    if (operator === 'NotIn') return { key, text: `${key} notin ${list}` }
    return { key, text: operator === 'Exists' ? key : `!${key}` }
  })
  return [...labels, ...expressions]
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ text }) => text)
    .join(',')
}
