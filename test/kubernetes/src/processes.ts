// SPDX-License-Identifier: Apache-2.0

// The client of the supervisor, in the process that uses a control plane.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive } from './pids.ts'
import type { Message, Request } from './supervisor.ts'

export interface Exit {
  readonly code: number | null
  readonly signal: string | null
}

export interface Command {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly directory: string
  readonly log: string
}

export interface Started {
  readonly pid: number
  readonly exited: Promise<Exit>
}

type Response = PromiseWithResolvers<Started | undefined>
type Unnumbered<T> = T extends { id: number } ? Omit<T, 'id'> : never

export class Supervisor {
  readonly pid: number
  readonly #child: ChildProcess
  readonly #responses = new Map<number, Response>()
  readonly #directories: string[] = []
  readonly #running = new Map<number, PromiseWithResolvers<Exit>>()
  #lastId = 0
  #waiting = 0

  private constructor(child: ChildProcess) {
    this.#child = child
    this.pid = child.pid!
    child.on('message', message => this.#receive(message as Message))
    child.once('exit', () => this.#lost())
    // A pending request keeps the program running, and nothing else here does. A program without other work exits, and
    // the components with it.
    child.unref()
    child.channel?.unref()
  }

  static async start(): Promise<Supervisor> {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'supervisor.ts')], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      // A session of its own: neither Ctrl-C nor a kill of the whole process group may end it before it has cleaned up.
      detached: true,
      env: withoutNodeSettings(process.env),
    })
    await once(child, 'spawn')
    return new Supervisor(child)
  }

  async spawn(command: Command): Promise<Started> {
    const started = await this.#ask({ do: 'spawn', ...command })
    if (!started) throw new Error(`${command.command} has no process id`)
    return started
  }

  async signal(pid: number, signal: NodeJS.Signals): Promise<void> {
    await this.#ask({ do: 'signal', pid, signal })
  }

  async removeAtEnd(directory: string): Promise<void> {
    this.#directories.push(directory)
    await this.#ask({ do: 'remove', directory })
  }

  /** Returns when every process has exited and the directories are removed. */
  async stop(): Promise<void> {
    if (this.#hasExited) return
    const exit = once(this.#child, 'exit')
    this.#child.ref()
    if (this.#child.connected) this.#child.send({ id: 0, do: 'stop' } satisfies Request, () => {})
    await exit
  }

  /** Waits for the process to exit. */
  ended(process: Started): Promise<Exit> {
    return this.#awaited(process.exited)
  }

  async #awaited<T>(event: Promise<T>): Promise<T> {
    if (this.#waiting++ === 0) this.#child.channel?.ref()
    try {
      return await event
    } finally {
      if (--this.#waiting === 0) this.#child.channel?.unref()
    }
  }

  get #hasExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  async #ask(request: Unnumbered<Request>): Promise<Started | undefined> {
    // The exit may be reported before the end of the channel.
    if (this.#hasExited || !this.#child.connected) throw new Error('The control plane was stopped')
    const id = ++this.#lastId
    const response: Response = Promise.withResolvers()
    this.#responses.set(id, response)
    this.#child.send({ ...request, id }, error => {
      if (error) this.#takeResponse(id)?.reject(error)
    })
    return this.#awaited(response.promise)
  }

  #takeResponse(id: number): Response | undefined {
    const response = this.#responses.get(id)
    this.#responses.delete(id)
    return response
  }

  #receive(message: Message): void {
    switch (message.kind) {
      case 'done':
        this.#takeResponse(message.id)?.resolve(this.#started(message.pid))
        break
      case 'failed':
        this.#takeResponse(message.id)?.reject(new Error(message.error))
        break
      case 'exit':
        this.#running.get(message.pid)?.resolve({ code: message.code, signal: message.signal })
        this.#running.delete(message.pid)
    }
  }

  #started(pid: number | undefined): Started | undefined {
    if (pid === undefined) return undefined
    const exit = Promise.withResolvers<Exit>()
    this.#running.set(pid, exit)
    return { pid, exited: exit.promise }
  }

  // The supervisor itself was killed: its children are orphans, and only this process knows them.
  #lost(): void {
    for (const [pid, exit] of this.#running) {
      if (isAlive(pid)) process.kill(pid, 'SIGKILL')
      exit.resolve({ code: null, signal: 'SIGKILL' })
    }
    this.#running.clear()
    for (const directory of this.#directories)
      rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
    for (const id of [...this.#responses.keys()])
      this.#takeResponse(id)?.reject(new Error('The control plane was stopped'))
  }
}

// The supervisor must not inherit a debugger, coverage recorder or test runner from this process.
function withoutNodeSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('NODE_')))
}
