// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { comparableText } from './comparable-text.ts'
import type { Kubectl, Running, RunOptions } from './kubectl.ts'

/** What one command did, in a form that does not depend on the server. */
export interface Entry {
  readonly command: string
  readonly code: number | null
  readonly out: readonly string[]
  readonly error: readonly string[]
}

export interface TypeOptions extends RunOptions {
  /** 0 unless told. */
  readonly code?: number
  /** Lines whose order means nothing. */
  readonly sorted?: boolean
  /** Of what was printed, this is compared; all of it unless told. */
  readonly only?: (text: string) => string
}

/** Words with spaces between them, or word by word. */
export type Command = string | readonly string[]

const patienceMs = 120_000
const lookEveryMs = 100

/** Somebody at a keyboard with kubectl, in a namespace of their own. What they see is written down. */
export class Shell {
  readonly namespace: string
  readonly transcript: Entry[] = []
  readonly #kubectl: Kubectl

  constructor(kubectl: Kubectl, namespace: string) {
    this.#kubectl = kubectl
    this.namespace = namespace
  }

  async begin(): Promise<void> {
    await this.silently(`create namespace ${this.namespace}`)
    // Pods are rejected before the account that they run as is there.
    await this.sees('get serviceaccount default -o name', /default/)
  }

  /** What is left goes in its own time. */
  async end(): Promise<void> {
    await this.silently(`delete namespace ${this.namespace} --wait=false`)
  }

  /** Types a command, which must end as expected. What it prints goes into the transcript, and is answered as it is. */
  async types(command: Command, options: TypeOptions = {}): Promise<string> {
    const { code, out, error } = await this.#kubectl.run(this.#words(command), options)
    assert.equal(code, options.code ?? 0, `kubectl ${spoken(command)}: ${error || out}`)
    const { only = text => text, sorted } = options
    const lines = (text: string) => {
      const all = comparableText(text, this.namespace).split('\n')
      return sorted ? all.sort() : all
    }
    this.transcript.push({ command: spoken(command), code, out: lines(only(out)), error: lines(error) })
    return out
  }

  /** Is rejected: the same as typing with exit code 1, answered with what stood on standard error. */
  async isRejected(command: Command, options: TypeOptions = {}): Promise<string> {
    await this.types(command, { code: 1, ...options })
    return this.transcript.at(-1)!.error.join('\n')
  }

  /** Looks until it is there. Nothing is written down: how often one looks is chance. */
  async sees(command: Command, pattern: RegExp): Promise<string> {
    const end = Date.now() + patienceMs
    for (;;) {
      const { out, error } = await this.#kubectl.run(this.#words(command))
      if (pattern.test(out)) return out
      if (Date.now() > end)
        throw new Error(`kubectl ${spoken(command)} never showed ${pattern}: ${out}${error}`)
      await new Promise(resolve => setTimeout(resolve, lookEveryMs))
    }
  }

  /** Does something beside what is compared. */
  async silently(command: Command, options: RunOptions = {}): Promise<string> {
    const { code, out, error } = await this.#kubectl.run(this.#words(command), options)
    assert.equal(code, 0, `kubectl ${spoken(command)}: ${error || out}`)
    return out
  }

  /** Is rejected, in words that depend on the moment. */
  async silentlyRejected(command: Command): Promise<string> {
    const { code, out, error } = await this.#kubectl.run(this.#words(command))
    assert.equal(code, 1, `kubectl ${spoken(command)}: ${out}`)
    return error
  }

  /** Begins a command that goes on until `ends`. */
  begins(command: string): Running {
    return this.#kubectl.start(this.#words(command))
  }

  /** Ends it; what it has printed goes into the transcript. */
  async ends(command: string, running: Running): Promise<string> {
    const { out, error } = await running.end()
    const lines = (text: string) => comparableText(text, this.namespace).split('\n')
    this.transcript.push({ command, code: null, out: lines(out), error: lines(error) })
    return out
  }

  /** A file beside the kubeconfig; its path is relative to where commands run. */
  file(path: string, text: string): string {
    const whole = join(this.#kubectl.folder, path)
    mkdirSync(dirname(whole), { recursive: true })
    writeFileSync(whole, text)
    return path
  }

  #words(command: Command): string[] {
    return ['--namespace', this.namespace, ...(typeof command === 'string' ? command.split(' ') : command)]
  }
}

function spoken(command: Command): string {
  return typeof command === 'string' ? command : command.join(' ')
}
