// SPDX-License-Identifier: Apache-2.0

// Logs what the pod is waiting for, for users who wonder why it does not start.
import type { Parents } from './arguments.ts'
import type { ParentReadiness, ParentState } from './parents.ts'

export type Log = (line: string) => void

/** Keeps a line readable in a terminal; further parents are only counted. */
const mostParentsInALine = 10

export class ProgressLog {
  readonly #log: Log
  readonly #readiness: ParentReadiness
  #named = ''
  #trouble: string | undefined
  readonly #told = new Set<string>()

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
    this.#trouble = undefined
    const { missing } = this.#readiness
    const named = missing.map(({ name }) => name).join()
    if (named === this.#named) return
    this.#named = named
    if (missing.length > 0) this.#log(waitingFor(missing))
  }

  /** Logs the same failure only once between two reminders. */
  trouble(message: string): void {
    this.#trouble = message
    if (this.#told.has(message)) return
    this.#told.add(message)
    this.#log(`cannot watch pods, trying again: ${message}`)
  }

  reminder(): void {
    this.#told.clear()
    const trouble = this.#trouble === undefined ? '' : ` (as last seen; cannot watch pods: ${this.#trouble})`
    this.#log(waitingFor(this.#readiness.missing) + trouble)
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

function inOneLine(words: readonly string[]): string {
  const more = words.length - mostParentsInALine
  return more > 0 ? `${words.slice(0, mostParentsInALine).join(', ')} and ${more} more` : words.join(', ')
}
