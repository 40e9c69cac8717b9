// SPDX-License-Identifier: Apache-2.0

import type { LogFields } from '../log/index.ts'
import { type Counter, counter, type Registry, webhookCatalogue } from '../metrics/index.ts'

/** Rules contain names of fields, and requests can contain any field. Further rules count as `Other`. */
const mostRules = 200
/** Rejections without a rule: the object could not be decoded, or the review failed. */
const noRule = 'Undecided'

/** Counts rejected requests by rule, with a bounded number of rules. */
export class RejectionMetrics {
  readonly #total: Counter<'webhook' | 'rule'>
  readonly #known = new Set<string>()

  constructor(registry: Registry) {
    this.#total = counter(registry, webhookCatalogue.rejections)
  }

  /** Takes the fields of the log record of a review. */
  count(webhook: string, { allowed, rules }: LogFields): void {
    if (allowed !== false) return
    const broken = Array.isArray(rules) && rules.length > 0 ? (rules as readonly string[]) : [noRule]
    for (const rule of new Set(broken.map(one => this.#bounded(one)))) this.#total.inc({ webhook, rule })
  }

  #bounded(rule: string): string {
    if (this.#known.has(rule)) return rule
    if (this.#known.size >= mostRules) return 'Other'
    this.#known.add(rule)
    return rule
  }
}
