// SPDX-License-Identifier: Apache-2.0

// What a request costs a client by itself: this process creates pods at a server that answers from memory in another
// process, so that no API server takes the processor's caches from it. Our client and a plain undici loop take turns.
// A server that answers slowly makes every request dearer: the client sleeps and wakes up for each response, where a quick one
// gives it several at a time. An API server creates some 500 pods per second here.
//   npm run bench -- kube-client-alone [--pods=1000] [--rounds=15] [--answers-per-second=500]
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { createAuthority } from '@grove/kube'
import { podOf } from './kube/pods.ts'
import { client, median, plainLoop } from './kube/ways.ts'

/** Until compiled code and connections are as in a program that has run for a while. */
const roundsToWarmUp = 4

const { values } = parseArgs({
  options: {
    pods: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '15' },
    'answers-per-second': { type: 'string', default: 'Infinity' },
  },
})
const count = Number(values.pods)

const authority = createAuthority('bench CA')
const server = fork(resolve(import.meta.dirname, 'kube/response-server.ts'))
server.send({
  ...authority.server('localhost', ['localhost']),
  gapMs: 1000 / Number(values['answers-per-second']),
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
