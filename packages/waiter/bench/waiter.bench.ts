// SPDX-License-Identifier: Apache-2.0

// The cost of the waiter compared with Node itself: `npm run bench -- waiter`. On a real API server: time from start
// to end of the process if the parent is ready, and memory while it waits (Linux only).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { startKubernetes, waitFor } from '@grove/test-kubernetes'
import { podCliqueLabel } from '../src/pod.ts'
import { WaiterHost } from '../src/testing/waiter-host.ts'

const runs = 21

await using kubernetes = await startKubernetes({ controllers: false, scheduler: false, kwok: false })
const namespace = await kubernetes.newNamespace()
const pods = `/api/v1/namespaces/${namespace}/pods`
const body = {
  metadata: { name: 'parent', labels: { [podCliqueLabel]: 'parent' } },
  spec: { containers: [{ name: 'main', image: 'nowhere/main' }] },
}
await kubernetes.request('POST', pods, { body })
await kubernetes.request('PATCH', `${pods}/parent/status`, {
  contentType: 'application/merge-patch+json',
  body: { status: { conditions: [{ type: 'Ready', status: 'True' }] } },
})
await kubernetes.kubectl(
  'create',
  'clusterrolebinding',
  'waiter',
  '--clusterrole=system:kube-scheduler',
  `--user=${user()}`,
)
const { status } = await kubernetes.request<{ status: { token: string } }>(
  'POST',
  `/api/v1/namespaces/${namespace}/serviceaccounts/default/token`,
  { body: { spec: {} } },
)
await using host = new WaiterHost({
  server: kubernetes.server,
  namespace,
  token: status.token,
  ca: kubernetes.ca,
})

const empty = await spread(async () => {
  await once(spawn(process.execPath, ['--input-type=module', '-e', '0'], { stdio: 'ignore' }), 'close')
})
const nothing = await spread(() => host.start().code)
const ready = await spread(() => host.start('parent:1').code)
console.log(`from start to end, ms (minimum, median, maximum of ${runs} runs)`)
console.log(`  Node with an empty program           ${empty}`)
console.log(`  waiter without parents               ${nothing}`)
console.log(`  waiter whose parent is ready already ${ready}   (a random delay of up to 100 ms included)`)

const waiting = host.start('parent:1', 'never:1')
await waitFor('the waiter to watch', () => waiting.output.includes('never 0/1') || undefined)
const idle = spawn(process.execPath, ['--input-type=module', '-e', 'setInterval(() => {}, 1e6)'])
await sleep(2_000)
console.log('memory while waiting, MB (resident; own share without what processes have in common)')
console.log(`  Node with an idle program  ${memory(idle.pid!)}`)
console.log(`  waiter                     ${memory(waiting.pid)}`)
idle.kill()

function user(): string {
  return `system:serviceaccount:${namespace}:default`
}

async function spread(run: () => Promise<unknown>): Promise<string> {
  const times: number[] = []
  for (let index = 0; index < runs; index++) {
    const start = performance.now()
    await run()
    times.push(performance.now() - start)
  }
  times.sort((a, b) => a - b)
  return [times[0], times[runs >> 1], times.at(-1)].map(time => time!.toFixed(0).padStart(5)).join()
}

function memory(pid: number): string {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  const megabytes = (...keys: string[]) =>
    keys.reduce((sum, key) => sum + Number(new RegExp(`^${key}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]), 0) /
    1024
  return `${megabytes('Rss').toFixed(0)}; ${megabytes('Private_Clean', 'Private_Dirty').toFixed(0)}`
}
