// SPDX-License-Identifier: Apache-2.0

import { stringify } from 'yaml'
import { escaped, type Line, rendered, wantsColours } from './line.ts'
import { terminal } from './terminal.ts'

/** Prints objects as one JSON array, or as a stream of YAML documents for `kubectl apply -f -`. */
export function printObjects(objects: readonly unknown[], form: string): void {
  const { stdout } = terminal()
  if (form !== 'json') {
    for (const object of objects) stdout.write(`---\n${yamlOf(object)}`)
    return
  }
  // One by one, because a string is limited to half a gigabyte.
  if (objects.length === 0) stdout.write('[]\n')
  objects.forEach((object, at) => {
    const json = jsonOf(object, 2).replaceAll('\n', '\n  ')
    stdout.write(`${at === 0 ? '[' : ','}\n  ${json}${at === objects.length - 1 ? '\n]\n' : ''}`)
  })
}

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

const higherControls = /[\u007f-\u009f]/gu

export function printYaml(value: unknown): void {
  terminal().stdout.write(yamlOf(value))
}

export function printLines(lines: readonly Line[]): void {
  const { stdout } = terminal()
  const hasColours = wantsColours(stdout)
  if (lines.length) stdout.write(lines.map(line => `${rendered(line, hasColours)}\n`).join(''))
}

/** Prints warnings and errors to standard error. */
export function printNote(text: string): void {
  terminal().stderr.write(`${escaped(text)}\n`)
}

/** Kubernetes reads YAML 1.1, in which `yes` is a boolean and `1:30` a number unless they are quoted. */
function yamlOf(value: unknown): string {
  const text = stringify(value, { version: '1.1', aliasDuplicateObjects: false, lineWidth: 0 })
  // Strings with control characters are double-quoted, where this escape is valid.
  return text.replace(higherControls, control => `\\x${control.charCodeAt(0).toString(16)}`)
}
