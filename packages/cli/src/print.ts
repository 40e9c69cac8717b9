// SPDX-License-Identifier: Apache-2.0

import { stringify } from 'yaml'
import { escaped, type Line, rendered, wantsColours } from './line.ts'
import { terminal } from './terminal.ts'

/** Objects as one JSON array, or as a stream of YAML documents that `kubectl apply -f -` takes. */
export function printObjects(objects: readonly unknown[], form: string): void {
  const { stdout } = terminal()
  if (form !== 'json') {
    for (const object of objects) stdout.write(`---\n${yamlOf(object)}`)
    return
  }
  // One by one: a text may not be longer than half a gigabyte.
  if (objects.length === 0) stdout.write('[]\n')
  objects.forEach((object, at) => {
    const json = jsonOf(object, 2).replaceAll('\n', '\n  ')
    stdout.write(`${at === 0 ? '[' : ','}\n  ${json}${at === objects.length - 1 ? '\n]\n' : ''}`)
  })
}

export function printJson(value: unknown): void {
  terminal().stdout.write(`${jsonOf(value, 2)}\n`)
}

/** One object on one line, for readers of a stream. */
export function printJsonLine(json: string): void {
  terminal().stdout.write(`${json}\n`)
}

/** JSON without any control character: DEL and those above it need no escape in JSON, but terminals obey them. */
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

/** What is to be known beside the answer: warnings, refusals. */
export function printNote(text: string): void {
  terminal().stderr.write(`${escaped(text)}\n`)
}

/** Kubernetes reads YAML 1.1, in which `yes` is a boolean and `1:30` a number unless they are quoted. */
function yamlOf(value: unknown): string {
  const text = stringify(value, { version: '1.1', aliasDuplicateObjects: false, lineWidth: 0 })
  // Texts with control characters stand in double quotes, where this escape means the same.
  return text.replace(higherControls, control => `\\x${control.charCodeAt(0).toString(16)}`)
}
