// SPDX-License-Identifier: Apache-2.0

/**
 * Writes definitions as JSON with one property per line, so that a new Kubernetes version produces a readable diff.
 * `marker` records the generator in the file, because JSON has no comments.
 */
export function definitionFile(
  marker: string,
  facts: Readonly<Record<string, unknown>>,
  definitions: Readonly<Record<string, object>>,
): string {
  const head = Object.entries({ '//': marker, ...facts }).map(([key, value]) => `${member(key, value)},`)
  const body = Object.entries(definitions).map(([name, definition]) =>
    indent(definitionText(name, definition)),
  )
  return ['{', ...head.map(indent), '  "definitions": {', indent(body.join(',\n')), '  }', '}', ''].join('\n')
}

function definitionText(name: string, definition: object): string {
  const { properties, ...rest } = definition as { properties?: object }
  const lines = Object.entries(rest).map(([key, value]) => member(key, value))
  if (properties) {
    const inner = Object.entries(properties).map(([key, value]) => indent(member(key, value)))
    lines.push(inner.length ? `"properties": {\n${inner.join(',\n')}\n}` : '"properties": {}')
  }
  return lines.length
    ? `${JSON.stringify(name)}: {\n${indent(lines.join(',\n'))}\n}`
    : `${JSON.stringify(name)}: {}`
}

function member(key: string, value: unknown): string {
  return `${JSON.stringify(key)}: ${JSON.stringify(value)}`
}

function indent(text: string): string {
  return text.replace(/^/gm, '  ')
}
