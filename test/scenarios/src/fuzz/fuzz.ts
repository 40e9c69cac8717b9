// SPDX-License-Identifier: Apache-2.0

// One fuzz run. The embedded cluster and the operator are processes. The run sends generated AdmissionReviews to the
// webhook port and creates generated sets on the cluster at the same time.
import { startOperatorProcess } from '../operator-process.ts'
import { type AdmissionReport, emptyAdmissionReport, runAdmission } from './admission-run.ts'
import { startEmbeddedProcess } from './embedded-process.ts'
import { Gauge } from './gauge.ts'
import { reviewGenerator } from './reviews.ts'
import { emptySetReport, runSets, type SetReport } from './set-runs.ts'

export interface FuzzOptions {
  readonly seed: number
  readonly reviews: number
  readonly sets: number
  /** No request starts after this time. */
  readonly seconds: number
}

export interface FuzzReport {
  readonly admission: AdmissionReport
  readonly sets: SetReport
  /** See GaugeLine. */
  readonly delayMs: number
  readonly stallMs: number
  readonly peakMiB: number
  /** Live heap after the warm-up, after half of the run and at the end, each after a garbage collection. */
  readonly heapMiB: { readonly before: number; readonly half: number; readonly after: number }
  /** The exit code or signal of an operator that ended. */
  readonly ended: string | undefined
  readonly operatorOutput: string
}

const nodes = 40
const tenants = 8
const reviewsInFlight = 8
const setsInFlight = 16
/** Enables all four webhooks. The run itself is exempt from the protection of managed objects. */
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
    const part = async (
      seed: number,
      reviews: readonly [from: number, to: number],
      sets: readonly [from: number, to: number],
      [admissionReport, setReport] = [emptyAdmissionReport(), emptySetReport()],
    ) => {
      await Promise.all([
        runAdmission(
          {
            port: operator.ports.webhooks,
            reviewAt: reviewGenerator(seed),
            from: reviews[0],
            to: reviews[1],
            inFlight: reviewsInFlight,
            deadline,
            progress,
          },
          admissionReport,
        ),
        runSets(
          {
            client: cluster.client,
            seed,
            from: sets[0],
            to: sets[1],
            inFlight: setsInFlight,
            namespaces,
            quietNamespace,
            deadline,
            progress,
            ended: ended.signal,
          },
          setReport,
        ),
      ])
    }
    const pid = operator.child.pid ?? 0
    const liveHeapMiB = async () => (ended.signal.aborted ? Number.NaN : (await gauge.collected(pid)).heapMiB)
    await part(
      options.seed + 1,
      [0, Math.min(warmUp.reviews, options.reviews)],
      [0, Math.min(warmUp.sets, Math.ceil(options.sets / 10))],
    )
    const before = await liveHeapMiB()
    const since = Date.now()
    progress(`warmed up; live heap ${before.toFixed(1)} MiB`)
    const admission = emptyAdmissionReport()
    const sets = emptySetReport()
    const [halfOfReviews, halfOfSets] = [Math.floor(options.reviews / 2), Math.floor(options.sets / 2)]
    await part(options.seed, [0, halfOfReviews], [0, halfOfSets], [admission, sets])
    const half = await liveHeapMiB()
    progress(`half of the run; live heap ${half.toFixed(1)} MiB`)
    await part(options.seed, [halfOfReviews, options.reviews], [halfOfSets, options.sets], [admission, sets])
    const lines = gauge.lines(pid, since)
    const after = await liveHeapMiB()
    return {
      admission,
      sets,
      delayMs: Math.max(0, ...lines.map(({ delayMs }) => delayMs)),
      stallMs: Math.max(0, ...lines.map(({ stallMs }) => stallMs)),
      peakMiB: Math.max(0, ...lines.map(({ residentMiB }) => residentMiB)),
      heapMiB: { before, half, after },
      ended: ended.signal.aborted ? String(ended.signal.reason?.message) : undefined,
      operatorOutput: operator.output,
    }
  } finally {
    operator.kill()
  }
}
