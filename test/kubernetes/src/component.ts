// SPDX-License-Identifier: Apache-2.0

// One program of the control plane. It is started and probed until it is ready. Fault tests pause and kill it.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { reportsTakenPort } from './ports.ts'
import type { Command, Exit, Started, Supervisor } from './processes.ts'

export const componentNames = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kwok',
] as const
export type ComponentName = (typeof componentNames)[number]

export type ComponentState = 'running' | 'paused' | 'ended'

export interface Program extends Command {
  readonly name: ComponentName
  /** Returns true once the program serves; throwing means that it does not serve yet. */
  readonly ready: () => Promise<boolean>
}

export class StartError extends Error {
  override readonly name = 'StartError'
  readonly component: ComponentName
  readonly portTaken: boolean

  constructor(component: ComponentName, reason: string, log: string) {
    const tail = log.trimEnd().split('\n').slice(-30).join('\n')
    super(`${component} ${reason}. The end of its log:\n${tail || '(empty)'}`)
    this.component = component
    this.portTaken = reportsTakenPort(log)
  }
}

const startTimeoutMs = 120_000

export class Component {
  readonly program: Program
  readonly #supervisor: Supervisor
  #process: Started | undefined
  #state: ComponentState = 'ended'

  constructor(program: Program, supervisor: Supervisor) {
    this.program = program
    this.#supervisor = supervisor
  }

  get pid(): number | undefined {
    return this.#process?.pid
  }

  get state(): ComponentState {
    return this.#state
  }

  logs(): string {
    try {
      return readFileSync(this.program.log, 'utf8')
    } catch {
      return ''
    }
  }

  /** Returns when the program is ready. */
  async start(): Promise<void> {
    if (this.#state !== 'ended') throw new Error(`${this.program.name} is ${this.#state} already`)
    const logged = this.logs().length
    const { name, ready, ...command } = this.program
    this.#process = await this.#supervisor.spawn(command)
    this.#state = 'running'
    let exit: Exit | undefined
    const exited = this.#process.exited.then(how => {
      exit = how
      this.#process = undefined
      this.#state = 'ended'
    })
    const deadline = performance.now() + startTimeoutMs
    while (!exit && !(await ready().catch(() => false))) {
      if (performance.now() > deadline)
        throw new StartError(
          name,
          `was not ready after ${startTimeoutMs / 1000} s`,
          this.logs().slice(logged),
        )
      await Promise.race([sleep(50), exited])
    }
    if (exit) {
      const how = exit as Exit
      throw new StartError(name, `ended with ${how.signal ?? `code ${how.code}`}`, this.logs().slice(logged))
    }
  }

  /** Pauses the program: it keeps its connections and does not respond. */
  async pause(): Promise<void> {
    await this.#signal('SIGSTOP')
    this.#state = 'paused'
  }

  async resume(): Promise<void> {
    await this.#signal('SIGCONT')
    this.#state = 'running'
  }

  /** Returns when the program has exited. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const process = this.#process
    if (!process) return
    await this.#signal(signal)
    // A paused program handles no other signal.
    if (this.#state === 'paused' && signal !== 'SIGKILL') await this.#signal('SIGCONT')
    await this.#supervisor.ended(process)
  }

  async #signal(signal: NodeJS.Signals): Promise<void> {
    if (!this.#process) throw new Error(`${this.program.name} is not running`)
    await this.#supervisor.signal(this.#process.pid, signal)
  }
}
