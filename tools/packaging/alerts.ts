// SPDX-License-Identifier: Apache-2.0

import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'

export const alertsFile = resolve(import.meta.dirname, '../../charts/grove/files/alerts.yaml')
const runbooksPage = 'docs/operations/runbooks.md'

export interface Alert {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<'summary' | 'description' | 'runbook', string>>
}

/** The alerts of the chart. */
export function readAlerts(): readonly Alert[] {
  const { groups } = parse(readFileSync(alertsFile, 'utf8')) as {
    groups: readonly { readonly rules: readonly Alert[] }[]
  }
  return groups.flatMap(({ rules }) => rules)
}

export function readRunbooks(): string {
  return readFileSync(join(import.meta.dirname, '../..', runbooksPage), 'utf8')
}
