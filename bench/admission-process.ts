// SPDX-License-Identifier: Apache-2.0

// Measures the cost of admission reviews in a separate process: latency of usual reviews, memory, and the longest stall
// of the operator's event loop. Both variants take turns. The result is the median and the 99th percentile of the
// latencies of all rounds.
//   npm run bench -- admission-process [--requests=300] [--rounds=3]
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:https'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { webhookPaths } from '@grove/operator'
import type { ServerReport } from './admission-process/server.ts'

const { values } = parseArgs({
  options: { requests: { type: 'string', default: '300' }, rounds: { type: 'string', default: '3' } },
})
const requests = Number(values.requests)
const rounds = Number(values.rounds)
/** Time until the process of a large review has exited. */
const drainMs = 500
const ways = ['in process', 'isolated'] as const
const small = reviewOf(setOf(2))
const large = reviewOf(setOf(100))
const depth = 3.4 * 1024 * 1024
const hostile = reviewOf(setOf(1), `${'['.repeat(depth)}${']'.repeat(depth)}`)

interface Figures {
  readonly latencies: Record<'small' | 'large' | 'concurrent' | 'duringHostile', number[]>
  readonly reports: Record<'idle' | 'worked' | 'afterHostile', ServerReport[]>
}
const figures = new Map<string, Figures>(
  ways.map(way => [
    way,
    {
      latencies: { small: [], large: [], concurrent: [], duringHostile: [] },
      reports: { idle: [], worked: [], afterHostile: [] },
    },
  ]),
)

for (let round = 0; round < rounds; round++) for (const way of ways) await measure(way, figures.get(way)!)
print()
process.exit()

async function measure(way: string, { latencies, reports }: Figures): Promise<void> {
  const server = fork(join(import.meta.dirname, 'admission-process/server.ts'), [way], {
    execArgv: process.execArgv.filter(flag => flag !== '--expose-gc'),
  })
  const [{ port }] = (await once(server, 'message')) as [{ port: number }]
  const agent = new Agent({ keepAlive: true })
  const post = (body: Buffer) => timed(agent, port, body)
  for (let i = 0; i < 50; i++) await post(small)
  reports.idle.push(await reportOf(server))
  for (let i = 0; i < requests; i++) latencies.small.push(await post(small))
  for (let i = 0; i < requests / 10; i++) latencies.large.push(await post(large))
  for (let i = 0; i < requests / 16; i++)
    latencies.concurrent.push(...(await Promise.all(Array.from({ length: 16 }, () => post(small)))))
  reports.worked.push(await reportOf(server))
  let isPending = true
  const pending = post(hostile).finally(() => {
    isPending = false
  })
  while (isPending) latencies.duringHostile.push(await post(small))
  await pending
  await setTimeout(drainMs)
  reports.afterHostile.push(await reportOf(server))
  agent.destroy()
  server.kill()
}

async function reportOf(server: ChildProcess): Promise<ServerReport> {
  server.send('report')
  const [report] = (await once(server, 'message')) as [ServerReport]
  return report
}

function timed(agent: Agent, port: number, body: Buffer): Promise<number> {
  const started = performance.now()
  return new Promise((resolve, reject) => {
    const call = request(
      {
        host: '127.0.0.1',
        port,
        path: `${webhookPaths.validatePodCliqueSet}?timeout=10s`,
        method: 'POST',
        agent,
        rejectUnauthorized: false,
        headers: { 'content-type': 'application/json', 'content-length': body.length },
      },
      response => {
        response.resume()
        response.on('end', () => resolve(performance.now() - started))
      },
    )
    call.on('error', reject)
    call.end(body)
  })
}

function print(): void {
  const rows: [string, (figures: Figures) => string][] = [
    [`review of ${kib(small)} KiB, median / p99 ms`, ({ latencies }) => spread(latencies.small)],
    [`16 of them at a time, median / p99 ms`, ({ latencies }) => spread(latencies.concurrent)],
    [
      `review of ${kib(large)} KiB (100 cliques), median / p99 ms`,
      ({ latencies }) => spread(latencies.large),
    ],
    [
      `small ones during one of ${kib(hostile)} KiB, median / longest ms`,
      ({ latencies }) =>
        `${ms(median(latencies.duringHostile))} / ${ms(Math.max(...latencies.duringHostile))}`,
    ],
    ['longest stall of the event loop with usual reviews, ms', ({ reports }) => stall(reports.worked)],
    [`longest stall with one of ${kib(hostile)} KiB, ms`, ({ reports }) => stall(reports.afterHostile)],
    ['memory before, proportional / anonymous MiB', ({ reports }) => memory(reports.idle)],
    ['memory after usual reviews', ({ reports }) => memory(reports.worked)],
    ['memory after the hostile one', ({ reports }) => memory(reports.afterHostile)],
    ['processes', ({ reports }) => String(reports.worked[0]?.processes)],
  ]
  console.log(`${''.padEnd(66)}${ways.map(way => way.padEnd(22)).join('')}`)
  for (const [title, show] of rows)
    console.log(`${title.padEnd(66)}${ways.map(way => show(figures.get(way)!).padEnd(22)).join('')}`)
}

function spread(latencies: readonly number[]): string {
  return `${ms(median(latencies))} / ${ms(percentile(latencies, 0.99))}`
}

function stall(reports: readonly ServerReport[]): string {
  return ms(Math.max(...reports.map(({ longestStallMs }) => longestStallMs)))
}

function memory(reports: readonly ServerReport[]): string {
  const of = (read: (report: ServerReport) => number) => Math.round(median(reports.map(read)))
  return `${of(each => each.proportionalMiB)} / ${of(each => each.anonymousMiB)}`
}

function ms(value: number): string {
  return value < 10 ? value.toFixed(2) : value.toFixed(0)
}

function kib(body: Buffer): number {
  return Math.round(body.length / 1024)
}

function median(of: readonly number[]): number {
  return percentile(of, 0.5)
}

function percentile(of: readonly number[], share: number): number {
  return of.toSorted((a, b) => a - b)[Math.min(of.length - 1, Math.floor(of.length * share))] ?? Number.NaN
}

/** Builds an AdmissionReview as an API server sends it. `options` is JSON. */
function reviewOf(object: object, options = '{}'): Buffer {
  const kind = '"group":"grove.io","version":"v1alpha1"'
  return Buffer.from(
    `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u-1","kind":{${kind},"kind":"PodCliqueSet"},` +
      `"resource":{${kind},"resource":"podcliquesets"},"operation":"CREATE","namespace":"team","userInfo":{"username":"alice"},` +
      `"options":${options},"object":${JSON.stringify(object)}}}`,
  )
}

function setOf(cliques: number): object {
  const clique = (index: number) => ({
    name: `c${index}`,
    labels: { 'example.com/part': `p${index}` },
    spec: {
      roleName: `role-${index}`,
      replicas: 2,
      minAvailable: 2,
      podSpec: {
        containers: ['main', 'sidecar'].map(name => ({
          name,
          image: `registry.example/serving/${name}:1.2.3`,
          args: ['--model', '/models/llm', '--port', '8000', '--tensor-parallel-size', '8'],
          env: Array.from({ length: 10 }, (_, i) => ({ name: `SETTING_${i}`, value: `value-of-${i}` })),
          ports: [{ name: 'http', containerPort: 8000 }],
          resources: { requests: { cpu: '8', memory: '64Gi' }, limits: { 'nvidia.com/gpu': '8' } },
        })),
        volumes: [{ name: 'models', persistentVolumeClaim: { claimName: 'models' } }],
      },
    },
  })
  return {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueSet',
    metadata: { name: 'bench', namespace: 'team' },
    spec: {
      replicas: 1,
      template: {
        cliqueStartupType: 'CliqueStartupTypeAnyOrder',
        terminationDelay: '4h0m0s',
        cliques: Array.from({ length: cliques }, (_, index) => clique(index)),
      },
    },
  }
}
