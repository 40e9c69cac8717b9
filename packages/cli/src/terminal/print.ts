// SPDX-License-Identifier: Apache-2.0

import { escaped, type Line, rendered, wantsColours } from './line.ts'
import { terminal } from './terminal.ts'

export function printJson(value: unknown): void {
  terminal().stdout.write(`${jsonOf(value, 2)}\n`)
}

/** One object per line, for readers of a stream. */
export function printJsonLine(json: string): void {
  terminal().stdout.write(`${json}\n`)
}

/**
 * JSON without control characters: JSON does not require escapes for DEL and higher ones, but terminals execute them.
 */
export function jsonOf(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(
    higherControls,
    control => `\\u00${control.charCodeAt(0).toString(16)}`,
  )
}

export const higherControls = /[\u007f-\u009f]/gu

export function printLines(lines: readonly Line[]): void {
  const { stdout } = terminal()
  const hasColours = wantsColours(stdout)
  if (lines.length) stdout.write(lines.map(line => `${rendered(line, hasColours)}\n`).join(''))
}

/** Prints warnings and errors to standard error. */
export function printNote(text: string): void {
  terminal().stderr.write(`${escaped(text)}\n`)
}
