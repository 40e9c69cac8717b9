// SPDX-License-Identifier: Apache-2.0

// A process of its own that starts the components and outlives nobody: when the channel to the process that
// asked for them closes, for whatever reason, it kills them all, removes their directory and ends. That holds for
// a crash, Ctrl-C and kill -9 of the other side, and for components that are stopped by SIGSTOP. Not covered:
// somebody who kills this process and the one that started it in the same moment.
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, rmSync } from 'node:fs'

export interface SpawnRequest {
  readonly id: number
  readonly do: 'spawn'
  readonly command: string
  readonly words: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly directory: string
  readonly log: string
}

export type Request =
  | SpawnRequest
  | { readonly id: number; readonly do: 'signal'; readonly pid: number; readonly signal: NodeJS.Signals }
  /** Removed with everything in it at the end. */
  | { readonly id: number; readonly do: 'remove'; readonly directory: string }
  | { readonly id: number; readonly do: 'stop' }

export type Message =
  | { readonly kind: 'done'; readonly id: number; readonly pid?: number }
  | { readonly kind: 'failed'; readonly id: number; readonly error: string }
  | {
      readonly kind: 'exit'
      readonly pid: number
      readonly code: number | null
      readonly signal: string | null
    }

const children = new Map<number, ChildProcess>()
const directories: string[] = []
let ending = false

process.on('message', (request: Request) => {
  try {
    perform(request)
  } catch (error) {
    send({ kind: 'failed', id: request.id, error: String(error) })
  }
})
process.on('disconnect', end)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end)

function perform(request: Request): void {
  switch (request.do) {
    case 'spawn':
      start(request)
      break
    case 'signal':
      children.get(request.pid)?.kill(request.signal)
      send({ kind: 'done', id: request.id })
      break
    case 'remove':
      directories.push(request.directory)
      send({ kind: 'done', id: request.id })
      break
    case 'stop':
      end()
  }
}

function start(request: SpawnRequest): void {
  if (ending) return
  const log = openSync(request.log, 'a')
  const child = spawn(request.command, request.words, {
    cwd: request.directory,
    env: request.env,
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  child.once('error', error => send({ kind: 'failed', id: request.id, error: error.message }))
  const { pid } = child
  if (pid === undefined) return
  children.set(pid, child)
  child.once('exit', (code, signal) => {
    children.delete(pid)
    send({ kind: 'exit', pid, code, signal })
    if (ending) leaveIfAlone()
  })
  send({ kind: 'done', id: request.id, pid })
}

function end(): void {
  ending = true
  for (const child of children.values()) child.kill('SIGKILL')
  leaveIfAlone()
}

// Only after the last child was seen to end: whoever sees this process gone may rely on the others being gone.
function leaveIfAlone(): void {
  if (children.size > 0) return
  for (const directory of directories) rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
  process.exit(0)
}

function send(message: Message): void {
  // The other side may be gone already; that is what 'disconnect' is for.
  if (process.connected) process.send?.(message, () => {})
}
