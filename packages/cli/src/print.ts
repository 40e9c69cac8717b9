// SPDX-License-Identifier: Apache-2.0

import { stringify } from 'yaml'

/** Objects as one JSON array, or as a stream of YAML documents that `kubectl apply -f -` takes. */
export function printObjects(objects: readonly unknown[], form: string): void {
  process.stdout.write(
    form === 'json'
      ? `${JSON.stringify(objects, null, 2)}\n`
      : objects
          .map(object => `---\n${stringify(object, { aliasDuplicateObjects: false, lineWidth: 0 })}`)
          .join(''),
  )
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`)
}

export function printLines(lines: readonly string[]): void {
  if (lines.length) process.stdout.write(`${lines.join('\n')}\n`)
}
