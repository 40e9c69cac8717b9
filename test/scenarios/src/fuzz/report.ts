// SPDX-License-Identifier: Apache-2.0

// The limits that a fuzz run must keep, and its report.
import { webhookTimeoutMs } from './admission-run.ts'
import type { FuzzReport } from './fuzz.ts'

/** Lease renewal and probes tolerate this; the API server's own time-outs are far longer. */
export const longestStallMs = 100
/** Caches of compiled code and of events grow a little after the warm-up; a leak of 2,000 sets grows far more. */
const heapGrowthMiB = 16

export interface Verdict {
  readonly what: string
  readonly holds: boolean
}

export function verdicts(report: FuzzReport): Verdict[] {
  const { admission, sets, heapMiB } = report
  return [
    { what: `the operator goes on${report.ended ? ` (${report.ended})` : ''}`, holds: !report.ended },
    { what: 'every review is answered', holds: admission.failures.length === 0 },
    { what: 'every set goes away and ordinary sets become available', holds: sets.failures.length === 0 },
    {
      what: `reviews are answered within ${webhookTimeoutMs} ms`,
      holds: admission.slowestMs <= webhookTimeoutMs,
    },
    { what: `the event loop stalls at most ${longestStallMs} ms`, holds: report.stallMs <= longestStallMs },
    {
      what: `live memory returns to the baseline (+${heapGrowthMiB} MiB)`,
      holds: heapMiB.after <= heapMiB.before + heapGrowthMiB,
    },
  ]
}

export function reportLines(report: FuzzReport): string[] {
  const { admission, sets, heapMiB } = report
  return [
    `admission requests   ${admission.tried} (${admission.allowed} allowed, ${admission.rejected} rejected, ${admission.refused} HTTP errors)`,
    `slowest answer       ${admission.slowestMs.toFixed(0)} ms (review ${admission.slowestIndex}: ${admission.slowestOrigin})`,
    `largest answer       ${admission.largestAnswerBytes} bytes`,
    `sets                 ${sets.lived} created, disturbed ${sets.disturbances} times and deleted; ${sets.rejected} rejected`,
    `ordinary sets        ${sets.ordinary} became available, the slowest after ${sets.slowestOrdinaryMs.toFixed(0)} ms`,
    `longest stall        ${report.stallMs.toFixed(0)} ms of work in one turn of the event loop; ${report.delayMs.toFixed(0)} ms with the time in which other processes had the processor`,
    `peak memory          ${report.peakMiB.toFixed(0)} MiB resident`,
    `live heap            ${heapMiB.before.toFixed(1)} MiB after the warm-up, ${heapMiB.after.toFixed(1)} MiB at the end`,
    ...[...admission.failures, ...sets.failures].map(failure => `  ${failure}`),
    ...(report.ended ? [report.operatorOutput.slice(-4_000)] : []),
  ]
}
