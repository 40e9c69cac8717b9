// SPDX-License-Identifier: Apache-2.0

// A metric is declared once, in the catalogue of its package. The process registers it from there, and the
// documentation, the dashboard and the alerts are checked against it.

export interface MetricDescription<Label extends string = string> {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly name: string
  readonly help: string
  /** The question of a user or platform engineer that the metric is for. */
  readonly question: string
  readonly labelNames: readonly Label[]
  /** Upper limits of the buckets of a histogram. Default: those of Prometheus clients. */
  readonly buckets?: readonly number[]
}

interface Texts<Label extends string> {
  readonly name: string
  readonly help: string
  readonly question: string
  readonly labelNames?: readonly Label[]
}

export function describeCounter<const Label extends string = never>(
  texts: Texts<Label>,
): MetricDescription<Label> {
  return { type: 'counter', labelNames: [], ...texts }
}

export function describeGauge<const Label extends string = never>(
  texts: Texts<Label>,
): MetricDescription<Label> {
  return { type: 'gauge', labelNames: [], ...texts }
}

export function describeHistogram<const Label extends string = never>(
  texts: Texts<Label> & { readonly buckets?: readonly number[] },
): MetricDescription<Label> {
  return { type: 'histogram', labelNames: [], ...texts }
}
