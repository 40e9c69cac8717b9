// SPDX-License-Identifier: Apache-2.0

import { exitCode, runWaiter } from './waiter.ts'

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    if (stop.signal.aborted) process.exit(exitCode.failed)
    stop.abort()
  })

const code = await runWaiter({
  args: process.argv.slice(2),
  environment: process.env,
  signal: stop.signal,
  logError: line => process.stderr.write(`${line}\n`),
})
// Open sockets or timers must not delay the start of the pod.
process.exit(code)
