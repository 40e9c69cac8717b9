// SPDX-License-Identifier: Apache-2.0

// Sends generated AdmissionReviews to the webhook port of an operator process, like an API server.
import { Pool } from 'undici'
import type { Review } from './reviews.ts'

/** API servers wait this long for the webhooks of Grove. */
export const webhookTimeoutMs = 10_000

export interface AdmissionReport {
  tried: number
  allowed: number
  rejected: number
  /** HTTP errors, which are allowed for bodies that are not a review. */
  httpErrors: number
  slowestMs: number
  slowestOrigin: string
  slowestIndex: number
  largestResponseBytes: number
  readonly failures: string[]
}

export interface AdmissionRunOptions {
  readonly port: number
  readonly reviewAt: (index: number) => Review
  /** Index of the first review, and the one after the last. */
  readonly from: number
  readonly to: number
  readonly inFlight: number
  readonly deadline: number
  readonly progress: (line: string) => void
}

/** The longest allowed rejection: an escaped message of 64 Ki characters and the rest of the review. */
const longestResponseBytes = 128 * 1024
const mostFailures = 20
const progressEvery = 10_000

export function emptyAdmissionReport(): AdmissionReport {
  return {
    tried: 0,
    allowed: 0,
    rejected: 0,
    httpErrors: 0,
    slowestMs: 0,
    slowestOrigin: '',
    slowestIndex: -1,
    largestResponseBytes: 0,
    failures: [],
  }
}

/** Adds its results to the report. */
export async function runAdmission(options: AdmissionRunOptions, report: AdmissionReport): Promise<void> {
  const pool = new Pool(`https://127.0.0.1:${options.port}`, {
    connections: options.inFlight,
    // The certificate names a Service, and this run connects to loopback.
    connect: { rejectUnauthorized: false },
    headersTimeout: 3 * webhookTimeoutMs,
  })
  let next = options.from
  const worker = async () => {
    while (next < options.to && Date.now() < options.deadline && report.failures.length < mostFailures) {
      const index = next++
      await send(pool, index, options.reviewAt(index), report)
      if (report.tried % progressEvery === 0) options.progress(`${report.tried} reviews`)
    }
  }
  await Promise.all(Array.from({ length: options.inFlight }, worker))
  await pool.close()
}

async function send(pool: Pool, index: number, review: Review, report: AdmissionReport): Promise<void> {
  const started = performance.now()
  const fail = (why: string) =>
    report.failures.push(`review ${index} (${review.origin}, ${review.path}): ${why}`)
  try {
    const { statusCode, body } = await pool.request({
      method: 'POST',
      path: `${review.path}?timeout=${webhookTimeoutMs / 1000}s`,
      headers: { 'content-type': 'application/json' },
      body: review.body,
    })
    const text = await body.text()
    const took = performance.now() - started
    report.tried++
    if (took > report.slowestMs)
      Object.assign(report, { slowestMs: took, slowestOrigin: review.origin, slowestIndex: index })
    report.largestResponseBytes = Math.max(report.largestResponseBytes, text.length)
    if (took > webhookTimeoutMs)
      fail(`response after ${Math.round(took)} ms, later than the webhook time-out`)
    if (statusCode !== 200) {
      report.httpErrors++
      if (review.isReview || statusCode >= 500) fail(`HTTP ${statusCode}: ${text.slice(0, 200)}`)
      return
    }
    const allowed = (JSON.parse(text) as { response?: { allowed?: unknown } }).response?.allowed
    if (typeof allowed !== 'boolean') fail(`no verdict in ${text.slice(0, 200)}`)
    else if (allowed) report.allowed++
    else report.rejected++
    if (!allowed && text.length > longestResponseBytes) fail(`a rejection of ${text.length} bytes`)
  } catch (error) {
    fail(error instanceof Error ? error.message : String(error))
  }
}
