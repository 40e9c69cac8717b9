// SPDX-License-Identifier: Apache-2.0

import { stringify } from 'yaml'
import { terminal } from './terminal.ts'

/** Objects as one JSON array, or as a stream of YAML documents that `kubectl apply -f -` takes. */
export function printObjects(objects: readonly unknown[], form: string): void {
  if (form === 'json') printJson(objects)
  else terminal().stdout.write(objects.map(object => `---\n${yamlOf(object)}`).join(''))
}

export function printJson(value: unknown): void {
  terminal().stdout.write(`${JSON.stringify(value, null, 2)}\n`)
}

export function printYaml(value: unknown): void {
  terminal().stdout.write(yamlOf(value))
}

export function printLines(lines: readonly string[]): void {
  if (lines.length) terminal().stdout.write(`${lines.join('\n')}\n`)
}

/** What is to be known beside the answer: warnings, refusals. */
export function printNote(text: string): void {
  terminal().stderr.write(`${text}\n`)
}

/** Kubernetes reads YAML 1.1, in which `yes` is a boolean and `1:30` a number unless they are quoted. */
function yamlOf(value: unknown): string {
  return stringify(value, { version: '1.1', aliasDuplicateObjects: false, lineWidth: 0 })
}
