// SPDX-License-Identifier: Apache-2.0

// Prints objects as YAML or as a List. It is a separate file, because most commands do not need the YAML library.
import { stringify } from 'yaml'
import { higherControls, jsonOf } from './print.ts'
import { terminal } from './terminal.ts'

/** Prints objects for `kubectl apply -f -`: as a List in JSON, or as a stream of YAML documents. */
export function printObjects(objects: readonly unknown[], form: string): void {
  const { stdout } = terminal()
  if (form !== 'json') {
    for (const object of objects) stdout.write(`---\n${yamlOf(object)}`)
    return
  }
  // Prints one by one, because a string is limited to half a gigabyte.
  stdout.write('{\n  "apiVersion": "v1",\n  "kind": "List",\n  "metadata": {},\n  "items": [')
  objects.forEach((object, at) => {
    stdout.write(`${at === 0 ? '' : ','}\n    ${jsonOf(object, 2).replaceAll('\n', '\n    ')}`)
  })
  stdout.write(objects.length === 0 ? ']\n}\n' : '\n  ]\n}\n')
}

export function printYaml(value: unknown): void {
  terminal().stdout.write(yamlOf(value))
}

/** Kubernetes reads YAML 1.1, in which `yes` is a boolean and `1:30` a number unless they are quoted. */
function yamlOf(value: unknown): string {
  const text = stringify(value, { version: '1.1', aliasDuplicateObjects: false, lineWidth: 0 })
  // Strings with control characters are double-quoted, where this escape is valid.
  return text.replace(higherControls, control => `\\x${control.charCodeAt(0).toString(16)}`)
}
