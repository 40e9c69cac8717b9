// SPDX-License-Identifier: Apache-2.0

import { isBlank, isJsonObject, type JsonObject, parseDuration } from '@grove/apimachinery'

/** Problems found while reading a configuration. */
export interface Findings {
  /** Values of a wrong type, which make the configuration unusable. */
  readonly errors: string[]
  /** Keys that were not read, most likely typing errors. */
  readonly unknownKeys: string[]
}

/**
 * One object of the configuration file. Every key that is read counts as known, and `close` reports the others. As in
 * files of Kubernetes components, null and absence are equal, and so is the zero value of most keys.
 */
export class Section {
  readonly #value: JsonObject
  readonly #path: string
  readonly #findings: Findings
  readonly #known = new Set<string>()
  readonly isPresent: boolean

  constructor(value: unknown, path: string, findings: Findings) {
    this.#path = path
    this.#findings = findings
    this.isPresent = value !== undefined && value !== null
    if (this.isPresent && !isJsonObject(value)) this.#reject(path || 'the configuration', 'an object', value)
    this.#value = isJsonObject(value) ? value : {}
  }

  text(key: string, fallback: string): string {
    const value = this.#read(key)
    if (value === undefined) return fallback
    if (typeof value !== 'string') return this.#reject(this.#at(key), 'a text', value, fallback)
    return value || fallback
  }

  /** A text of which a blank one counts as absent. */
  choice(key: string, fallback: string): string {
    const value = this.text(key, fallback)
    return isBlank(value) ? fallback : value
  }

  boolean(key: string, fallback = false): boolean {
    const value = this.#read(key)
    if (value === undefined) return fallback
    return typeof value === 'boolean' ? value : this.#reject(this.#at(key), 'true or false', value, fallback)
  }

  /** Zero counts as absent, unless `keepZero` is set. */
  integer(key: string, fallback: number, keepZero = false): number {
    const value = this.#read(key)
    if (value === undefined) return fallback
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
      return this.#reject(this.#at(key), 'an integer', value, fallback)
    }
    return value === 0 && !keepZero ? fallback : value
  }

  number(key: string, fallback: number): number {
    const value = this.#read(key)
    if (value === undefined) return fallback
    if (typeof value !== 'number') return this.#reject(this.#at(key), 'a number', value, fallback)
    return value || fallback
  }

  /** In milliseconds. */
  duration(key: string, fallback: number): number {
    const value = this.#read(key)
    if (value === undefined) return fallback
    if (typeof value !== 'string') {
      return this.#reject(this.#at(key), 'a duration such as 15s', value, fallback)
    }
    const duration = parseDuration(value)
    if (!duration.ok) {
      this.#findings.errors.push(`${this.#at(key)}: ${duration.error}`)
      return fallback
    }
    return Number(duration.nanoseconds) / 1e6 || fallback
  }

  /** An empty list is a value: only an absent list gets the default. */
  texts(key: string, fallback: readonly string[] = []): string[] {
    if (this.#read(key) === undefined) return [...fallback]
    return this.#list(key).map((entry, index) =>
      typeof entry === 'string' ? entry : this.#reject(`${this.#at(key)}[${index}]`, 'a text', entry, ''),
    )
  }

  sections(key: string): Section[] {
    return this.#list(key).map(
      (entry, index) => new Section(entry, `${this.#at(key)}[${index}]`, this.#findings),
    )
  }

  section(key: string): Section {
    return new Section(this.#read(key), this.#at(key), this.#findings)
  }

  /** An object with unchecked members. */
  freeObject(key: string): JsonObject | undefined {
    const value = this.#read(key)
    if (value === undefined || isJsonObject(value)) return value
    return this.#reject(this.#at(key), 'an object', value, undefined)
  }

  /** Call it after reading all keys. */
  close(): void {
    for (const key of Object.keys(this.#value)) {
      if (!this.#known.has(key)) this.#findings.unknownKeys.push(this.#at(key))
    }
  }

  #read(key: string): unknown {
    this.#known.add(key)
    return this.#value[key] ?? undefined
  }

  #list(key: string): unknown[] {
    const value = this.#read(key)
    if (value === undefined) return []
    return Array.isArray(value) ? value : this.#reject(this.#at(key), 'a list', value, [])
  }

  #at(key: string): string {
    return this.#path ? `${this.#path}.${key}` : key
  }

  #reject(at: string, wanted: string, value: unknown): void
  #reject<T>(at: string, wanted: string, value: unknown, fallback: T): T
  #reject<T>(at: string, wanted: string, value: unknown, fallback?: T): T | undefined {
    this.#findings.errors.push(`${at}: must be ${wanted}, not ${describe(value)}`)
    return fallback
  }
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (isJsonObject(value)) return 'an object'
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
