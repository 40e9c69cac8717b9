// SPDX-License-Identifier: Apache-2.0

import { AsyncLocalStorage } from 'node:async_hooks'

/** Input and output of a command. */
export interface Terminal {
  readonly stdin: NodeJS.ReadableStream
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number }
  readonly stderr: NodeJS.WritableStream
}

const current = new AsyncLocalStorage<Terminal>()

/** The terminal of the process, unless the command runs with another one. */
export function terminal(): Terminal {
  return current.getStore() ?? process
}

/** Runs a command with another terminal than that of the process. */
export function onTerminal<T>(other: Terminal, work: () => T): T {
  return current.run(other, work)
}
