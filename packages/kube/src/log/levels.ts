// SPDX-License-Identifier: Apache-2.0

import type { LogLevel } from './logger.ts'

const severity: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 }

/**
 * The least severe level that is logged, for each area of a process. An area without a level of its own has the
 * default.
 */
export class LogLevels {
  #default: LogLevel
  readonly #areas = new Map<string, LogLevel | undefined>()

  constructor(level: LogLevel) {
    this.#default = level
  }

  isEnabled(area: string | undefined, level: LogLevel): boolean {
    const least = (area !== undefined && this.#areas.get(area)) || this.#default
    return severity[level] >= severity[least]
  }

  addArea(area: string): void {
    if (!this.#areas.has(area)) this.#areas.set(area, undefined)
  }

  /** Sets the level of an area, or the default without one. Undefined returns an area to the default. */
  set(area: string | undefined, level: LogLevel | undefined): void {
    if (area !== undefined) this.#areas.set(area, level)
    else if (level) this.#default = level
  }

  hasArea(area: string): boolean {
    return this.#areas.has(area)
  }

  /** The levels that apply at the moment. */
  current(): { readonly default: LogLevel; readonly areas: Readonly<Record<string, LogLevel>> } {
    const names = [...this.#areas.keys()].sort()
    return {
      default: this.#default,
      areas: Object.fromEntries(names.map(name => [name, this.#areas.get(name) ?? this.#default])),
    }
  }
}
