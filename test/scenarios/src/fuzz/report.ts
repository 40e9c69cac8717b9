// SPDX-License-Identifier: Apache-2.0

// The limits of a fuzz run, and its report.
import { webhookTimeoutMs } from './admission-run.ts'
import type { FuzzReport } from './fuzz.ts'

/** Lease renewal and probes tolerate this stall; the API server's time-outs are far longer. */
const longestStallMs = 100
/**
 * Compiled code and bounded records, of events and of deleted objects, grow after the warm-up. In the second half of a long run
 * they are full, so that only a leak keeps growing.
 */
const heapGrowthMiB = 16
const heapGrowthOfSecondHalfMiB = 4

export interface Verdict {
  readonly what: string
  readonly holds: boolean
}

export function verdicts(report: FuzzReport): Verdict[] {
  const { admission, sets, heapMiB } = report
  return [
    { what: `the operator keeps running${report.ended ? ` (${report.ended})` : ''}`, holds: !report.ended },
    { what: 'every review gets a response', holds: admission.failures.length === 0 },
    { what: 'every set is deleted and ordinary sets become available', holds: sets.failures.length === 0 },
    {
      what: `reviews get a response within ${webhookTimeoutMs} ms`,
      holds: admission.slowestMs <= webhookTimeoutMs,
    },
    { what: `the event loop stalls at most ${longestStallMs} ms`, holds: report.stallMs <= longestStallMs },
    {
      what: `live memory returns to the baseline (+${heapGrowthMiB} MiB)`,
      holds: heapMiB.after <= heapMiB.before + heapGrowthMiB,
    },
    {
      what: `live memory stops growing (+${heapGrowthOfSecondHalfMiB} MiB in the second half)`,
      holds: heapMiB.after <= heapMiB.half + heapGrowthOfSecondHalfMiB,
    },
  ]
}

export function reportLines(report: FuzzReport): string[] {
  const { admission, sets, heapMiB } = report
  return [
    `admission requests   ${admission.tried} (${admission.allowed} allowed, ${admission.rejected} rejected, ${admission.httpErrors} HTTP errors)`,
    `slowest response     ${admission.slowestMs.toFixed(0)} ms (review ${admission.slowestIndex}: ${admission.slowestOrigin})`,
    `largest response     ${admission.largestResponseBytes} bytes`,
    `sets                 ${sets.lived} created, disturbed ${sets.disturbances} times and deleted; ${sets.rejected} rejected`,
    `ordinary sets        ${sets.ordinary} became available, the slowest after ${sets.slowestOrdinaryMs.toFixed(0)} ms`,
    `longest stall        ${report.stallMs.toFixed(0)} ms of work in one turn of the event loop; ${report.delayMs.toFixed(0)} ms with the time in which other processes had the processor`,
    `peak memory          ${report.peakMiB.toFixed(0)} MiB resident`,
    `live heap            ${heapMiB.before.toFixed(1)} MiB after the warm-up, ${heapMiB.half.toFixed(1)} MiB after half of the run, ${heapMiB.after.toFixed(1)} MiB at the end`,
    ...[...admission.failures, ...sets.failures].map(failure => `  ${failure}`),
    ...(report.ended ? [report.operatorOutput.slice(-4_000)] : []),
  ]
}
