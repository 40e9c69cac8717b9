// SPDX-License-Identifier: Apache-2.0

// One child process that decides reviews. It is a process, not a worker thread: V8 ends the whole process when some
// allocations of a thread exceed its heap limit, for instance when a Map grows.
import { type ChildProcess, fork } from 'node:child_process'
import type { ReadyMessage, ReviewMessage, ReviewReply, SetupMessage } from './messages.ts'

/** Limit of kept stderr output; enough for the reason of an end. */
const keptOutput = 4 * 1024

export interface ReviewProcessOptions {
  /** The module that calls `serveReviews`. */
  readonly entry: string
  /** Sent first. Anything that can be cloned. */
  readonly setup: unknown
  /** Limit of the JavaScript heap. The process needs about 40 MiB in addition. */
  readonly heapMiB: number
}

/** The reason why a review process ended, or never started. */
export class ReviewProcessEnded extends Error {}

export class ReviewProcess {
  readonly #child: ChildProcess
  /** Resolves when it can decide reviews; rejects if it ends before. */
  readonly ready: Promise<void>
  /** Resolves with the reason when it has ended. Never rejects. */
  readonly ended: Promise<ReviewProcessEnded>
  #output = ''
  #waiting: PromiseWithResolvers<ReviewReply> | undefined
  #end: ReviewProcessEnded | undefined

  constructor({ entry, setup, heapMiB }: ReviewProcessOptions) {
    this.#child = fork(entry, {
      // Typed arrays and Maps arrive as such.
      serialization: 'advanced',
      // It decodes hostile input and needs no secret, not even the path of a kubeconfig.
      env: pick(process.env, ['NODE_COMPILE_CACHE', 'NODE_OPTIONS']),
      execArgv: [...process.execArgv, `--max-old-space-size=${heapMiB}`, '--optimize-for-size'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    const ended = Promise.withResolvers<ReviewProcessEnded>()
    const ready = Promise.withResolvers<void>()
    this.ended = ended.promise
    this.ready = ready.promise
    this.ready.catch(() => {})
    const end = (reason: string) => {
      this.#end ??= new ReviewProcessEnded(`${reason}${this.#output && `: ${this.#output.trim()}`}`)
      ready.reject(this.#end)
      this.#waiting?.reject(this.#end)
      ended.resolve(this.#end)
    }
    this.#child.stderr?.on('data', chunk => {
      // The first lines contain the reason.
      if (this.#output.length < keptOutput) this.#output += String(chunk).slice(0, keptOutput)
    })
    this.#child.once('error', error => end(error.message))
    this.#child.once('close', (code, signal) =>
      end(signal ? `ended by ${signal}` : `ended with code ${code}`),
    )
    this.#child.on('message', (message: ReadyMessage | ReviewReply) => {
      if (message.kind === 'ready') ready.resolve()
      else this.#waiting?.resolve(message)
    })
    const message: SetupMessage = { kind: 'setup', setup }
    this.#send(message)
  }

  get hasEnded(): boolean {
    return this.#end !== undefined
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Decides one review at a time. Rejects if the process ends. */
  async run(message: ReviewMessage): Promise<ReviewReply> {
    if (this.#end) throw this.#end
    if (this.#waiting) throw new Error('this process is already deciding a review')
    this.#waiting = Promise.withResolvers()
    try {
      this.#send(message)
      return await this.#waiting.promise
    } finally {
      this.#waiting = undefined
    }
  }

  /** Ends the process at once. */
  kill(): void {
    this.#child.kill('SIGKILL')
  }

  #send(message: SetupMessage | ReviewMessage): void {
    // A failed send is followed by the end of the process, which reports the reason.
    this.#child.send(message, () => {})
  }
}

function pick(from: NodeJS.ProcessEnv, names: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(names.flatMap(name => (from[name] === undefined ? [] : [[name, from[name]]])))
}
