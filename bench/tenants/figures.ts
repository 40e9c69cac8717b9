// SPDX-License-Identifier: Apache-2.0

// The figures of the benchmark and their comparison.
import type { OperatorLoad } from '../operator-load.ts'
import { type ProcessorTime, sumOf } from '../scale/processor-time.ts'
import { share, slowestSteps, steps, type Trace } from './steps.ts'

const aim = 1.5
const slowestShare = 0.05
/** Number of kinds of requests in the text; the JSON has all. */
const mostRequests = 16
const shares = [
  ['median', 0.5],
  ['p95', 1 - slowestShare],
] as const

export interface Round {
  readonly traces: readonly Trace[]
  readonly seconds: number
  readonly busyProcessors: number
  readonly processorTime: ProcessorTime
  readonly operator: OperatorLoad
  /** Actions of the hostile tenant by type. */
  readonly hostile: Readonly<Record<string, number>> | undefined
}

export type Kind = 'alone' | 'control plane' | 'hostile'
export type Figures = Readonly<Record<Kind, Round[]>>

const titles: Readonly<Record<Kind, string>> = {
  alone: 'alone',
  'control plane': 'with the same requests for kinds without an operator',
  hostile: 'with the hostile tenant',
}

export function print(figures: Figures, tenants: number): void {
  console.log(`\n${tenants} tenants' sets until available, seconds`)
  for (const kind of Object.keys(titles) as Kind[]) printKind(figures, kind)
  const ratio = (kind: Kind, to: Kind, part: number) => {
    const of = share(times(figures[kind]), part) / share(times(figures[to]), part)
    return of.toFixed(2)
  }
  for (const [name, part] of shares)
    console.log(
      `${name}: hostile tenant to alone ${ratio('hostile', 'alone', part)} (aim: at most ${aim}), control plane ` +
        `to alone ${ratio('control plane', 'alone', part)}, hostile tenant to control plane ` +
        ratio('hostile', 'control plane', part),
    )
}

export function printKind(figures: Figures, kind: Kind): void {
  const texts = shares.map(([name, part]) => {
    const [value, alone] = [share(times(figures[kind]), part), share(times(figures.alone), part)]
    return `${name} ${value.toFixed(2)}${kind === 'alone' ? '' : ` (ratio ${(value / alone).toFixed(2)})`}`
  })
  console.log(`  ${titles[kind]}: ${texts.join(', ')}`)
  printRounds(figures[kind])
}

function printRounds(rounds: readonly Round[]): void {
  const durations = slowestSteps(
    rounds.flatMap(({ traces }) => traces),
    slowestShare,
  )
  console.log(
    `    steps of the slowest: ${steps.map(step => `${step} ${durations[step].toFixed(2)}`).join(', ')}`,
  )
  for (const { seconds, busyProcessors, processorTime, operator } of rounds) {
    const used = sumOf(processorTime) + operator.cpuSeconds
    console.log(
      `    ${busyProcessors.toFixed(2)} processors busy, ${Math.max(0, busyProcessors - used / seconds).toFixed(2)} of ` +
        `them with other programs; CPU: ` +
        `control plane and benchmark ${sumOf(processorTime).toFixed(1)} s, operator ${operator.cpuSeconds.toFixed(1)} s; ` +
        `operator: ${operator.requests} requests of ${ms(operator.meanRequestSeconds)}, queue wait ` +
        `${ms(operator.meanQueueSeconds)}, longest stall ${ms(operator.longestStallSeconds)}`,
    )
    const most = Object.entries(operator.requestsBy).slice(0, mostRequests)
    console.log(`    most requests: ${most.map(([request, count]) => `${count} ${request}`).join(', ')}`)
  }
}

function times(rounds: readonly Round[]): number[] {
  return rounds.flatMap(({ traces }) => traces.map(trace => trace['set available']))
}

function ms(seconds: number): string {
  return `${(1000 * seconds).toFixed(0)} ms`
}
