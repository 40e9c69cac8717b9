// SPDX-License-Identifier: Apache-2.0

// Logs what the pod is waiting for, so that users see why it does not start.
import type { Parents } from './arguments.ts'
import type { ParentReadiness, ParentState } from './parents.ts'

export type Log = (line: string) => void

/** Keeps a line readable in a terminal; further parents are only counted. */
const maxParentsPerLine = 10

export class ProgressLog {
  readonly #log: Log
  readonly #readiness: ParentReadiness
  #missingNames = ''
  #failure: string | undefined
  readonly #logged = new Set<string>()

  constructor(log: Log, readiness: ParentReadiness) {
    this.#log = log
    this.#readiness = readiness
  }

  start(parents: Parents, namespace: string): void {
    const wanted = [...parents].map(([name, need]) => `${name} (${need})`)
    this.#log(`starts after these PodCliques of namespace ${namespace} have ready pods: ${inOneLine(wanted)}`)
  }

  /** Logs when the set of missing parents changes. Changed counts alone appear in the reminder. */
  observed(): void {
    this.#failure = undefined
    const { missing } = this.#readiness
    const named = missing.map(({ name }) => name).join()
    if (named === this.#missingNames) return
    this.#missingNames = named
    if (missing.length > 0) this.#log(waitingFor(missing))
  }

  /** Logs the same failure only once between two reminders. */
  failed(message: string): void {
    this.#failure = message
    if (this.#logged.has(message)) return
    this.#logged.add(message)
    this.#log(`cannot watch pods, trying again: ${message}`)
  }

  reminder(): void {
    this.#logged.clear()
    const failure = this.#failure === undefined ? '' : ` (as last seen; cannot watch pods: ${this.#failure})`
    this.#log(waitingFor(this.#readiness.missing) + failure)
  }

  done(): void {
    const states = this.#readiness.all
    this.#log(states.length ? `done: ${inOneLine(states.map(counted))}` : 'done: nothing to wait for')
  }

  stopped(): void {
    this.#log(`stopped while ${waitingFor(this.#readiness.missing)}`)
  }
}

function waitingFor(missing: readonly ParentState[]): string {
  return `waiting for: ${inOneLine(missing.map(counted))}`
}

function counted({ name, have, need }: ParentState): string {
  return `${name} ${have}/${need} ready`
}

function inOneLine(names: readonly string[]): string {
  const more = names.length - maxParentsPerLine
  return more > 0 ? `${names.slice(0, maxParentsPerLine).join(', ')} and ${more} more` : names.join(', ')
}
