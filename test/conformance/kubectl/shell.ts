// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { comparableText } from './comparable-text.ts'
import type { Kubectl, Running, RunOptions } from './kubectl.ts'

/** The result of one command in a form that does not depend on the server. */
export interface Entry {
  readonly command: string
  readonly code: number | null
  readonly out: readonly string[]
  readonly error: readonly string[]
}

export interface TypeOptions extends RunOptions {
  /** Default: 0. */
  readonly code?: number
  /** True if the order of the lines is irrelevant. */
  readonly sorted?: boolean
  /** Selects the part of the output that is compared. Default: all of it. */
  readonly only?: (text: string) => string
}

/** Arguments separated by spaces, or a list of arguments. */
export type Command = string | readonly string[]

const patienceMs = 120_000
const lookEveryMs = 100

/** A user with kubectl and a namespace. It records the commands and their output. */
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
    // Pods are rejected until the service account exists.
    await this.sees('get serviceaccount default -o name', /default/)
  }

  /** The remaining objects are deleted in the background. */
  async end(): Promise<void> {
    await this.silently(`delete namespace ${this.namespace} --wait=false`)
  }

  /** Runs a command and checks its exit code. Adds its output to the transcript and returns it unchanged. */
  async types(command: Command, options: TypeOptions = {}): Promise<string> {
    const { code, out, error } = await this.#kubectl.run(this.#args(command), options)
    assert.equal(code, options.code ?? 0, `kubectl ${spoken(command)}: ${error || out}`)
    const { only = text => text, sorted } = options
    const lines = (text: string) => {
      const all = comparableText(text, this.namespace).split('\n')
      return sorted ? all.sort() : all
    }
    this.transcript.push({ command: spoken(command), code, out: lines(only(out)), error: lines(error) })
    return out
  }

  /** Runs a command that fails with exit code 1. Returns its standard error. */
  async isRejected(command: Command, options: TypeOptions = {}): Promise<string> {
    await this.types(command, { code: 1, ...options })
    return this.transcript.at(-1)!.error.join('\n')
  }

  /** Polls until the condition holds. Polls are not part of the transcript, because their number depends on timing. */
  async sees(command: Command, pattern: RegExp): Promise<string> {
    const end = Date.now() + patienceMs
    for (;;) {
      const { out, error } = await this.#kubectl.run(this.#args(command))
      if (pattern.test(out)) return out
      if (Date.now() > end)
        throw new Error(`kubectl ${spoken(command)} never showed ${pattern}: ${out}${error}`)
      await new Promise(resolve => setTimeout(resolve, lookEveryMs))
    }
  }

  /** Runs a command outside of the transcript. */
  async silently(command: Command, options: RunOptions = {}): Promise<string> {
    const { code, out, error } = await this.#kubectl.run(this.#args(command), options)
    assert.equal(code, 0, `kubectl ${spoken(command)}: ${error || out}`)
    return out
  }

  /** Runs a command that fails with a message that depends on timing. */
  async silentlyRejected(command: Command): Promise<string> {
    const { code, out, error } = await this.#kubectl.run(this.#args(command))
    assert.equal(code, 1, `kubectl ${spoken(command)}: ${out}`)
    return error
  }

  /** Starts a command that runs until `ends`. */
  begins(command: string): Running {
    return this.#kubectl.start(this.#args(command))
  }

  /** Stops the command and adds its output to the transcript. */
  async ends(command: string, running: Running): Promise<string> {
    const { out, error } = await running.end()
    const lines = (text: string) => comparableText(text, this.namespace).split('\n')
    this.transcript.push({ command, code: null, out: lines(out), error: lines(error) })
    return out
  }

  /** Writes a file next to the kubeconfig, and returns its path relative to the working directory. */
  file(path: string, text: string): string {
    const whole = join(this.#kubectl.folder, path)
    mkdirSync(dirname(whole), { recursive: true })
    writeFileSync(whole, text)
    return path
  }

  #args(command: Command): string[] {
    return ['--namespace', this.namespace, ...(typeof command === 'string' ? command.split(' ') : command)]
  }
}

function spoken(command: Command): string {
  return typeof command === 'string' ? command : command.join(' ')
}
