// SPDX-License-Identifier: Apache-2.0

import { AsyncLocalStorage } from 'node:async_hooks'

/** Input and output of a command. */
export interface Terminal {
  readonly stdin: NodeJS.ReadableStream
  readonly stdout: NodeJS.WritableStream & {
    readonly isTTY?: boolean
    readonly columns?: number
    readonly rows?: number
  }
  readonly stderr: NodeJS.WritableStream
}

const current = new AsyncLocalStorage<Terminal>()

/** The terminal of the process, unless the command runs with another one. */
export function terminal(): Terminal {
  return current.getStore() ?? process
}

/** Size of a terminal that does not report one. */
export const unknownScreen = { columns: 80, rows: 24 }

/** The width to which lines are wrapped. Other outputs than terminals get whole lines. */
export function columnsOf({ stdout }: Terminal): number {
  return stdout.isTTY ? stdout.columns || unknownScreen.columns : Number.POSITIVE_INFINITY
}

/** Runs a command with another terminal than that of the process. */
export function onTerminal<T>(other: Terminal, work: () => T): T {
  return current.run(other, work)
}
