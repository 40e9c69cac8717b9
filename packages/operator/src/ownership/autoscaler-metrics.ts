// SPDX-License-Identifier: Apache-2.0

import type { HorizontalPodAutoscaler } from '@grove/api'
import { normalizeQuantity, QuantityError, readQuantity } from '@grove/apimachinery'
import { sameMeaning } from '../apply/owned-fields.ts'

type Metrics = NonNullable<HorizontalPodAutoscaler['spec']>['metrics']

/** API servers normalize quantities: 5, "5" and "5000m" are equal. */
export function sameMetrics(one: Metrics, other: Metrics): boolean {
  return sameMeaning(one?.map(normalizedMetric), other?.map(normalizedMetric))
}

function normalizedMetric(metric: NonNullable<Metrics>[number]): unknown {
  return Object.fromEntries(
    Object.entries(metric).map(([member, value]) => [
      member,
      hasTarget(value) ? { ...value, target: normalizedTarget(value.target) } : value,
    ]),
  )
}

function hasTarget(value: unknown): value is { target: Readonly<Record<string, unknown>> } {
  return typeof value === 'object' && value !== null && 'target' in value
}

function normalizedTarget(target: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const amounts = (['value', 'averageValue'] as const).flatMap(member => {
    const read = target[member] === undefined ? undefined : readQuantity(target[member])
    return read === undefined || read instanceof QuantityError ? [] : [[member, normalizeQuantity(read)]]
  })
  return { ...target, ...Object.fromEntries(amounts) }
}
