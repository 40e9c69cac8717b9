// SPDX-License-Identifier: Apache-2.0

// Runs the command as a user does: as a process, with files, pipes, signals and exit codes.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { resolve } from 'node:path'

const main = resolve(import.meta.dirname, '../main.ts')

export interface GroveResult {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface GroveOptions {
  readonly input?: string
  readonly environment?: Readonly<Record<string, string | undefined>>
  readonly directory?: string
}

/** Waits for the process to exit. Unlike spawnSync it does not block this process, which may run the server. */
export async function grove(args: readonly string[], options: GroveOptions = {}): Promise<GroveResult> {
  const running = startGrove(args, options)
  running.child.stdin.end(options.input ?? '')
  const status = await running.ended
  return { status, stdout: running.stdout(), stderr: running.stderr() }
}

export interface RunningGrove {
  readonly child: ChildProcessWithoutNullStreams
  readonly ended: Promise<number | null>
  stdout(): string
  stderr(): string
  /** Resolves when the text appears on standard output. Rejects if the process exits first. */
  shows(pattern: RegExp): Promise<void>
}

export function startGrove(args: readonly string[], options: GroveOptions = {}): RunningGrove {
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...process.env, NO_COLOR: undefined, ...options.environment },
    ...(options.directory !== undefined && { cwd: options.directory }),
  })
  // A process that exits without reading its input is not an error.
  child.stdin.on('error', () => {})
  let stdout = ''
  let stderr = ''
  const waiting = new Set<() => void>()
  child.stdout.setEncoding('utf8').on('data', chunk => {
    stdout += chunk
    for (const look of waiting) look()
  })
  child.stderr.setEncoding('utf8').on('data', chunk => {
    stderr += chunk
  })
  const ended = new Promise<number | null>(done => child.on('close', done))
  return {
    child,
    ended,
    stdout: () => stdout,
    stderr: () => stderr,
    shows: pattern =>
      new Promise((seen, failed) => {
        const look = () => {
          if (!pattern.test(stdout)) return
          waiting.delete(look)
          seen()
        }
        waiting.add(look)
        look()
        void ended.then(status =>
          failed(new Error(`ended with ${status} before ${pattern}: ${stdout}${stderr}`)),
        )
      }),
  }
}
