// SPDX-License-Identifier: Apache-2.0

// The cost of a request in the client alone. This process creates pods at a server in another process that responds
// from memory, so that no API server evicts the client's CPU caches. Our client and a plain undici loop take turns. A
// slow server makes every request more expensive: the client sleeps and resumes for each response, while a fast server
// delivers several at a time. An API server creates some 500 pods per second here.
//   npm run bench -- kube-client-alone [--pods=1000] [--rounds=15] [--responses-per-second=500]
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { createAuthority } from '@grove/kube'
import { podOf } from './kube/pods.ts'
import { client, median, plainLoop } from './kube/ways.ts'

/** Warm-up requests, until compiled code and connections are as in a long-running program. */
const roundsToWarmUp = 4

const { values } = parseArgs({
  options: {
    pods: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '15' },
    'responses-per-second': { type: 'string', default: 'Infinity' },
  },
})
const count = Number(values.pods)

const authority = createAuthority('bench CA')
const server = fork(resolve(import.meta.dirname, 'kube/response-server.ts'))
server.send({
  ...authority.server('localhost', ['localhost']),
  gapMs: 1000 / Number(values['responses-per-second']),
})
const [port] = await once(server, 'message')
const { cert, key } = authority.client({ user: 'bench' })
const config = {
  server: `https://localhost:${port}`,
  namespace: 'default',
  tls: () => ({ ca: authority.pair.cert, certificate: cert, key }),
}
const ways = [plainLoop(config, 64), client(config, 64), client(config, 64, { managedFields: true })]
const wanted = Array.from({ length: count }, (_, index) => podOf('bench', index))
const costs = new Map<string, number[]>(ways.map(({ name }) => [name, []]))
for (let round = 0; round < roundsToWarmUp + Number(values.rounds); round++)
  for (const { name, create } of ways) {
    const before = process.cpuUsage()
    await create(wanted)
    const { user, system } = process.cpuUsage(before)
    if (round >= roundsToWarmUp) costs.get(name)!.push((user + system) / 1000 / count)
  }
for (const { close } of ways) await close?.()
server.kill()

const table = [...costs].map(([name, cost]) => [
  name,
  {
    'CPU ms/request': Number(median(cost).toFixed(3)),
    'least to most': `${Math.min(...cost).toFixed(3)} ${Math.max(...cost).toFixed(3)}`,
  },
])
console.table(Object.fromEntries(table))
