// SPDX-License-Identifier: Apache-2.0

import { type Findings, leaseTimeMistakes, Section } from '@grove/api'
import { defaultBindTimeoutMs } from '../binder/start-scheduler.ts'
import { defaultPolicy } from '../policy.ts'
import { defaultSchedulerName } from '../snapshot/index.ts'
import type { Policy } from '../types.ts'

export interface SchedulerConfiguration {
  /** `spec.schedulerName` of the pods that this scheduler places. */
  readonly schedulerName: string
  readonly policy: Policy
  readonly bindTimeoutMs: number
  readonly leaderElection: {
    readonly enabled: boolean
    readonly resourceName: string
    readonly resourceNamespace: string
    readonly leaseDuration: number
    readonly renewDeadline: number
    readonly retryPeriod: number
  }
  readonly metrics: { readonly bindAddress: string; readonly port: number }
  readonly healthProbes: { readonly bindAddress: string; readonly port: number }
  readonly logLevel: 'debug' | 'info' | 'error'
  readonly logFormat: 'json' | 'text'
}

export type ConfigurationResult =
  | { readonly ok: true; readonly configuration: SchedulerConfiguration }
  | { readonly ok: false; readonly problems: readonly string[] }

const configurationApiVersion = 'scheduler.config.grove.io/v1alpha1'
const configurationKind = 'SchedulerConfiguration'

const seconds = 1_000

/** Rejects unknown fields: a misspelled field would otherwise silently have no effect. */
export function readSchedulerConfiguration(document: unknown): ConfigurationResult {
  const findings: Findings = { errors: [], unknownKeys: [] }
  const root = new Section(document, '', findings)
  const apiVersion = root.text('apiVersion', '')
  const kind = root.text('kind', '')
  if (apiVersion !== configurationApiVersion || kind !== configurationKind)
    findings.errors.push(
      `apiVersion and kind must be ${configurationApiVersion} and ${configurationKind}, not "${apiVersion}" and "${kind}"`,
    )
  const configuration: SchedulerConfiguration = {
    schedulerName: root.text('schedulerName', defaultSchedulerName),
    policy: {
      ...defaultPolicy,
      replicaScope: oneOf(root, 'replicaScope', ['Prefer', 'Require'], findings),
      preemption: oneOf(root, 'preemption', ['Disabled', 'Enabled'], findings),
      reservation: readReservation(root.section('reservation'), findings),
      budget: readBudget(root.section('budget'), findings),
    },
    bindTimeoutMs: positive(root.duration('bindTimeout', defaultBindTimeoutMs), 'bindTimeout', findings),
    leaderElection: readLeaderElection(root.section('leaderElection'), findings),
    metrics: readEndpoint(root.section('metrics'), 9447, 'metrics', findings),
    healthProbes: readEndpoint(root.section('healthProbes'), 9448, 'healthProbes', findings),
    logLevel: oneOf(root, 'logLevel', ['info', 'debug', 'error'], findings),
    logFormat: oneOf(root, 'logFormat', ['json', 'text'], findings),
  }
  root.close()
  const problems = [...findings.errors, ...findings.unknownKeys.map(key => `${key}: unknown field`)]
  return problems.length ? { ok: false, problems } : { ok: true, configuration }
}

/** The first value is the default. */
function oneOf<T extends string>(
  section: Section,
  key: string,
  values: readonly [T, ...T[]],
  findings: Findings,
): T {
  const value = section.text(key, values[0])
  const found = values.find(one => one === value)
  if (found) return found
  findings.errors.push(`${key}: must be one of ${values.join(', ')}, not "${value}"`)
  return values[0]
}

function positive(value: number, field: string, findings: Findings): number {
  if (!(value > 0)) findings.errors.push(`${field}: must be greater than 0`)
  return value
}

function readReservation(section: Section, findings: Findings): Policy['reservation'] {
  const after = section.duration('after', 600 * seconds)
  const reservation = {
    afterSeconds: positive(after, 'reservation.after', findings) / seconds,
    maxNodesPercent: section.integer('maxNodesPercent', 25),
  }
  section.close()
  const { maxNodesPercent } = reservation
  if (maxNodesPercent < 1 || maxNodesPercent > 100)
    findings.errors.push(`reservation.maxNodesPercent: must be from 1 to 100, not ${maxNodesPercent}`)
  return section.isPresent ? reservation : undefined
}

function readBudget(section: Section, findings: Findings): Policy['budget'] {
  const budget = {
    gang: positive(section.integer('gang', defaultPolicy.budget.gang), 'budget.gang', findings),
    cycle: positive(section.integer('cycle', defaultPolicy.budget.cycle), 'budget.cycle', findings),
  }
  section.close()
  return budget
}

function readLeaderElection(section: Section, findings: Findings): SchedulerConfiguration['leaderElection'] {
  const election = {
    enabled: section.boolean('enabled', true),
    resourceName: section.text('resourceName', 'grove-scheduler-leader-election'),
    resourceNamespace: section.text('resourceNamespace', ''),
    leaseDuration: section.duration('leaseDuration', 15 * seconds),
    renewDeadline: section.duration('renewDeadline', 10 * seconds),
    retryPeriod: section.duration('retryPeriod', 2 * seconds),
  }
  section.close()
  if (election.enabled) checkLeaseTimes(election, findings)
  return election
}

function checkLeaseTimes(election: SchedulerConfiguration['leaderElection'], { errors }: Findings): void {
  const before = errors.length
  for (const key of ['leaseDuration', 'renewDeadline', 'retryPeriod'] as const)
    positive(election[key], `leaderElection.${key}`, { errors, unknownKeys: [] })
  if (errors.length > before) return
  if (election.leaseDuration <= election.renewDeadline)
    errors.push('leaderElection.leaseDuration: must be greater than renewDeadline')
  for (const { key, problem } of leaseTimeMistakes(election)) errors.push(`leaderElection.${key}: ${problem}`)
}

/** Port 0 is any free port. */
function readEndpoint(
  section: Section,
  defaultPort: number,
  field: string,
  findings: Findings,
): { bindAddress: string; port: number } {
  const port = section.integer('port', defaultPort, true)
  const endpoint = { bindAddress: section.text('bindAddress', ''), port }
  section.close()
  if (port < 0 || port > 65_535) findings.errors.push(`${field}.port: must be from 0 to 65535, not ${port}`)
  return endpoint
}
