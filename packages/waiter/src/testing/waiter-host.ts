// SPDX-License-Identifier: Apache-2.0

// Runs the bundled waiter as the kubelet does, for tests on a real control plane.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundle } from '../bundle.ts'

export interface Mounts {
  readonly server: string
  readonly namespace: string
  readonly token: string
  readonly ca: string
}

/** The files that all pods of one PodCliqueSet share, and the processes that read them. */
export class WaiterHost implements AsyncDisposable {
  readonly #directory = mkdtempSync(join(tmpdir(), 'grove-waiter-'))
  readonly #program = join(this.#directory, 'waiter.mjs')
  readonly #environment: Record<string, string>
  readonly #waiters: RunningWaiter[] = []

  constructor({ server, namespace, token, ca }: Mounts) {
    const podInfo = join(this.#directory, 'pod-info')
    const serviceAccount = join(this.#directory, 'serviceaccount')
    for (const directory of [podInfo, serviceAccount]) mkdirSync(directory)
    writeFileSync(join(podInfo, 'namespace'), namespace)
    writeFileSync(join(serviceAccount, 'token'), token)
    writeFileSync(join(serviceAccount, 'ca.crt'), ca)
    writeFileSync(this.#program, bundle())
    const { hostname, port } = new URL(server)
    this.#environment = {
      KUBERNETES_SERVICE_HOST: hostname,
      KUBERNETES_SERVICE_PORT: port,
      GROVE_WAITER_POD_INFO: podInfo,
      GROVE_WAITER_SERVICE_ACCOUNT: serviceAccount,
    }
  }

  start(...parents: readonly string[]): RunningWaiter {
    const args = parents.map(parent => `--podcliques=${parent}`)
    const process_ = spawn(process.execPath, [this.#program, ...args], {
      env: this.#environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const waiter = new RunningWaiter(process_)
    this.#waiters.push(waiter)
    return waiter
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#waiters.map(waiter => waiter.kill('SIGKILL')))
    rmSync(this.#directory, { recursive: true })
  }
}

export class RunningWaiter {
  /** Undefined if a signal ended it. */
  readonly code: Promise<number | undefined>
  readonly #process: ChildProcess
  #output = ''
  #ended = false

  constructor(process: ChildProcess) {
    this.#process = process
    for (const stream of [process.stdout, process.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.#output += text
      })
    this.code = once(process, 'close').then(([code]) => {
      this.#ended = true
      return code ?? undefined
    })
  }

  get pid(): number {
    return this.#process.pid!
  }

  get output(): string {
    return this.#output
  }

  get running(): boolean {
    return !this.#ended
  }

  async kill(signal: NodeJS.Signals): Promise<number | undefined> {
    if (this.running) this.#process.kill(signal)
    return this.code
  }
}
