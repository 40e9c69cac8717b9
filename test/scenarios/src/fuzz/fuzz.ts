// SPDX-License-Identifier: Apache-2.0

import { startOperatorProcess } from '../operator-process.ts'
// One fuzz run: an embedded cluster and an operator, each a process of its own; generated AdmissionReviews sent to its
// webhook port and generated sets on the cluster, at the same time.
import { type AdmissionReport, runAdmission } from './admission-run.ts'
import { startEmbeddedProcess } from './embedded-process.ts'
import { Gauge } from './gauge.ts'
import { reviewGenerator } from './reviews.ts'
import { runSets, type SetReport } from './set-runs.ts'

export interface FuzzOptions {
  readonly seed: number
  readonly reviews: number
  readonly sets: number
  /** Nothing new begins after this. */
  readonly seconds: number
}

export interface FuzzReport {
  readonly admission: AdmissionReport
  readonly sets: SetReport
  /** See GaugeLine. */
  readonly delayMs: number
  readonly stallMs: number
  readonly peakMiB: number
  /** Live heap after the warm-up and at the end, both after a garbage collection. */
  readonly heapMiB: { readonly before: number; readonly after: number }
  /** The exit code or signal of an operator that ended. */
  readonly ended: string | undefined
  readonly operatorOutput: string
}

const nodes = 40
const tenants = 8
const reviewsInFlight = 8
const setsInFlight = 16
/** All four webhooks are served. The run itself may change managed objects. */
const configuration = {
  authorizer: {
    enabled: true,
    exemptServiceAccountUserNames: [
      'kubernetes-admin',
      // The controllers of the embedded cluster.
      'system:admin',
      'system:serviceaccount:kube-system:generic-garbage-collector',
    ],
  },
}
/** Compiles the code and fills the caches before the first measurement of memory. */
const warmUp = { reviews: 2_000, sets: 60 }

export async function fuzz(options: FuzzOptions, progress: (line: string) => void): Promise<FuzzReport> {
  await using cluster = await startEmbeddedProcess({ nodes })
  const gauge = new Gauge(cluster.directory)
  const operator = await startOperatorProcess(cluster, { nodeFlags: gauge.nodeFlags, configuration })
  const ended = new AbortController()
  operator.child.once('exit', (code, signal) =>
    ended.abort(new Error(`the operator ended: ${signal ?? code}`)),
  )
  try {
    const namespaces: string[] = []
    for (let tenant = 0; tenant < tenants; tenant++)
      namespaces.push(await cluster.newNamespace(`tenant-${tenant}`))
    const quietNamespace = await cluster.newNamespace('quiet')
    const deadline = Date.now() + options.seconds * 1000
    const part = (seed: number, reviews: number, sets: number) =>
      Promise.all([
        runAdmission({
          port: operator.ports.webhooks,
          reviewAt: reviewGenerator(seed),
          count: reviews,
          inFlight: reviewsInFlight,
          deadline,
          progress,
        }),
        runSets({
          client: cluster.client,
          seed,
          count: sets,
          inFlight: setsInFlight,
          namespaces,
          quietNamespace,
          deadline,
          progress,
          ended: ended.signal,
        }),
      ])
    await part(
      options.seed + 1,
      Math.min(warmUp.reviews, options.reviews),
      Math.min(warmUp.sets, Math.ceil(options.sets / 10)),
    )
    const pid = operator.child.pid ?? 0
    const before = ended.signal.aborted ? undefined : await gauge.collected(pid)
    const since = Date.now()
    progress(`warmed up; live heap ${before?.heapMiB.toFixed(1)} MiB`)
    const [admission, sets] = await part(options.seed, options.reviews, options.sets)
    const lines = gauge.lines(pid, since)
    const after = ended.signal.aborted ? undefined : await gauge.collected(pid)
    return {
      admission,
      sets,
      delayMs: Math.max(0, ...lines.map(({ delayMs }) => delayMs)),
      stallMs: Math.max(0, ...lines.map(({ stallMs }) => stallMs)),
      peakMiB: Math.max(0, ...lines.map(({ residentMiB }) => residentMiB)),
      heapMiB: { before: before?.heapMiB ?? Number.NaN, after: after?.heapMiB ?? Number.NaN },
      ended: ended.signal.aborted ? String(ended.signal.reason?.message) : undefined,
      operatorOutput: operator.output,
    }
  } finally {
    operator.kill()
  }
}
