// SPDX-License-Identifier: Apache-2.0

// The webhook server of the benchmark in its own process. It evaluates reviews in the same process or in an isolated
// one.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { defaultConfiguration } from '@grove/api'
import { makeCertificates } from '@grove/cluster'
import {
  type Client,
  IsolatedReviews,
  MemoryCertificateSource,
  silentLogger,
  systemClock,
  WebhookServer,
} from '@grove/kube'
import { admissionHandlers, webhookPaths } from '@grove/operator'

setFlagsFromString('--optimize-for-size')

export interface ServerReport {
  /** MiB of all processes, with shared pages counted once. */
  readonly proportionalMiB: number
  /** MiB of anonymous memory. */
  readonly anonymousMiB: number
  readonly processes: number
  readonly longestStallMs: number
}

const configuration = defaultConfiguration()
const certificates = new MemoryCertificateSource()
certificates.set(makeCertificates(Date.now(), ['localhost']).server)
const server = new WebhookServer({ host: '127.0.0.1', port: 0, certificates, clock: systemClock })
const never = new AbortController().signal

if (process.argv[2] === 'isolated') {
  const reviews = new IsolatedReviews({
    entry: join(import.meta.dirname, '../../packages/operator/src/admission/review-process.ts'),
    setup: { configuration, ownUserNames: [] },
    lookUp: async () => ({}),
    clock: systemClock,
    log: silentLogger,
  })
  void reviews.run(never)
  for (const path of [webhookPaths.defaultPodCliqueSet, webhookPaths.validatePodCliqueSet])
    server.handleReviews(path, (review, context) => reviews.decide(path, review, context))
} else {
  // No rule of the default configuration reads the cluster.
  const handlers = admissionHandlers({ client: {} as Client, configuration })
  server.handle(webhookPaths.defaultPodCliqueSet, handlers.defaultPodCliqueSet)
  server.handle(webhookPaths.validatePodCliqueSet, handlers.validatePodCliqueSet)
}

await server.start(never)
const delay = monitorEventLoopDelay({ resolution: 5 })
delay.enable()
process.send?.({ port: server.port })
process.on('disconnect', () => process.exit())
process.on('message', () => {
  process.send?.(report())
  delay.reset()
})

function report(): ServerReport {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim()
  const pids = [process.pid, ...children.split(' ').filter(Boolean).map(Number)]
  const sum = (field: string) =>
    pids.reduce((total, pid) => {
      const [, kib] = new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(memoryMapsOf(pid)) ?? []
      return total + Number(kib ?? 0) / 1024
    }, 0)
  return {
    proportionalMiB: sum('Pss'),
    anonymousMiB: sum('Anonymous'),
    processes: pids.length,
    longestStallMs: delay.max / 1e6,
  }
}

/** Returns an empty text if the process has just exited. */
function memoryMapsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  } catch {
    return ''
  }
}
