// SPDX-License-Identifier: Apache-2.0

import type { Capacity, Fragmentation, Gang, LevelSlots } from '@grove/scheduler'
import { bad, good, type Line } from '../terminal/line.ts'
import { columns, filled } from './columns.ts'
import { domainText, explanationLines } from './gang-text.ts'

/** More domains of one level share one line. */
const domainsShown = 10

export function capacityLines(capacity: Capacity, template: readonly Gang[], most: number): Line[] {
  const { copies, provenance, limitedBy, slots, fragmentation } = capacity
  const copy = copies === 1 ? 'copy fits' : 'copies fit'
  const summary =
    limitedBy === null && copies >= most
      ? `At least ${copies} more ${copy}.`
      : `${copies} more ${copy}${provenance === 'proved' ? '' : ', perhaps more: the search ended early'}.`
  const levels = template[0]?.levels ?? []
  return [
    copies > 0 ? good(summary) : bad(summary),
    ...(limitedBy ? ['', `The next copy: ${limitedBy.code}`, ...explanationLines(limitedBy, levels)] : []),
    ...slots.flatMap(level => ['', ...slotLines(level, template)]),
    '',
    ...fragmentationLines(fragmentation),
  ]
}

function slotLines({ level, domains }: LevelSlots, template: readonly Gang[]): string[] {
  const base = template.find(({ role }) => role === 'base')?.name ?? ''
  const title = filled(`Copies of gang ${base} in each ${level} alone:`, '  ', '')
  const free = domains.filter(({ copies }) => copies > 0)
  const shown = free.slice(0, domainsShown)
  const width = Math.min(columns - 20, Math.max(0, ...shown.map(({ domain }) => domainText(domain).length)))
  const rest = free.length - shown.length
  const restCopies = free.slice(domainsShown).reduce((sum, { copies }) => sum + copies, 0)
  return [
    ...title,
    ...shown.map(({ domain, copies }) => `  ${domainText(domain).padEnd(width)}  ${copies}`),
    ...(rest > 0 ? [`  ${rest} more ${level} domains with ${restCopies} in total`] : []),
    ...(free.length < domains.length
      ? [`  none in ${domains.length - free.length} of ${domains.length}`]
      : []),
  ]
}

function fragmentationLines({ resource, free, unusable, ratio, byReason }: Fragmentation): string[] {
  const amount = (value: number) => String(Math.round(resource === 'cpu' ? value / 100 : value * 10) / 10)
  const percent = `${Math.round(ratio * 100)}%`
  const reasons = Object.entries(byReason)
    .sort(([, left], [, right]) => right - left)
    .map(([reason, value]) => `${reason} ${amount(value)}`)
  return filled(
    `Fragmentation: pods of this workload cannot use ${amount(unusable)} of ${amount(free)} free ${resource} (${percent})${reasons.length > 0 ? `, because of ${reasons.join(', ')}` : ''}.`,
    '  ',
    '',
  )
}
