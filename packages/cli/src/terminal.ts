// SPDX-License-Identifier: Apache-2.0

import { AsyncLocalStorage } from 'node:async_hooks'

/** Where a command reads and writes. */
export interface Terminal {
  readonly stdin: NodeJS.ReadableStream
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number }
  readonly stderr: NodeJS.WritableStream
}

const current = new AsyncLocalStorage<Terminal>()

/** That of the process, unless the command was started with another. */
export function terminal(): Terminal {
  return current.getStore() ?? process
}

/** Runs a command on another terminal than that of the process. */
export function onTerminal<T>(other: Terminal, work: () => T): T {
  return current.run(other, work)
}
