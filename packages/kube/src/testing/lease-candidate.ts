// SPDX-License-Identifier: Apache-2.0

// A process for the tests of the election. While it leads, it writes its name into one ConfigMap, without any
// precondition, through a fenced client. Environment: KUBECONFIG, NAMESPACE, IDENTITY. Prints to standard output when
// it leads and when it stops.
import { loadKubeconfig } from '../auth/index.ts'
import { createClient, createClientOn, createTransport } from '../client/index.ts'
import { systemClock } from '../clock/index.ts'
import { FencedTransport, LeaseElector, leaseClient } from '../lease/index.ts'
import { Manager, stopSignal } from '../manager/index.ts'
import { configMaps } from './config-maps.ts'

/** Shorter than the defaults so that tests take seconds, with a margin of three seconds for a slow machine. */
const times = { leaseDurationMs: 6_000, renewDeadlineMs: 3_000, retryPeriodMs: 500 }
const writeEveryMs = 50
const lostLeadershipExitCode = 6

const { NAMESPACE: namespace = '', IDENTITY: identity = '' } = process.env
const config = loadKubeconfig()
const elector = new LeaseElector({
  namespace,
  name: 'lock',
  identity,
  times,
  clock: systemClock,
  client: leaseClient(createClient(config), { namespace, name: 'lock' }),
})
const client = createClientOn(new FencedTransport(createTransport(config), elector.leadership), {
  credentials: config.credentials,
})
const manager = new Manager({ clock: systemClock, election: elector })

let writing: Promise<void> | undefined
const enough = new AbortController()
manager.addController('writer', {
  start: async hard => {
    console.log('leads')
    hard.addEventListener('abort', () => enough.abort(hard.reason))
    writing = write(enough.signal)
  },
  stop: async () => {
    enough.abort(new Error('stopped'))
    await writing
  },
})

async function write(signal: AbortSignal): Promise<void> {
  for (let count = 0; !signal.aborted; count++) {
    const merge = { data: { writer: identity, count: String(count) } }
    // A failed write is not repeated, because the test examines whether it arrived.
    await client
      .patch(configMaps, { namespace, name: 'log' }, { merge }, { signal, attempts: 1 })
      .catch(() => {})
    await systemClock.sleep(writeEveryMs, signal).catch(() => {})
  }
}

try {
  await manager.run(stopSignal())
  console.log('stopped')
  process.exit(0)
} catch {
  console.log('lost')
  process.exit(lostLeadershipExitCode)
}
