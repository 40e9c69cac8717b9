// SPDX-License-Identifier: Apache-2.0

// A process that starts the components. When the channel to its parent closes, it kills all components, removes their
// directory and exits. This covers a crash, Ctrl-C and kill -9 of the parent, and components that are paused by
// SIGSTOP. It does not cover a simultaneous kill of this process and its parent.
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, rmSync } from 'node:fs'

export interface SpawnRequest {
  readonly id: number
  readonly do: 'spawn'
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly directory: string
  readonly log: string
}

export type Request =
  | SpawnRequest
  | { readonly id: number; readonly do: 'signal'; readonly pid: number; readonly signal: NodeJS.Signals }
  /** Removed with all its files at the end. */
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
  const child = spawn(request.command, request.args, {
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

// The supervisor exits after its last child: when it has exited, all components have exited.
function leaveIfAlone(): void {
  if (children.size > 0) return
  for (const directory of directories) rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
  process.exit(0)
}

function send(message: Message): void {
  // The parent may have exited already; 'disconnect' handles that.
  if (process.connected) process.send?.(message, () => {})
}
