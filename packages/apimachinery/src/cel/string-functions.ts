// SPDX-License-Identifier: Apache-2.0
import type { Environment } from '@marcbachmann/cel-js'
import { goRegExp } from '../structural-schema/pattern.ts'
import { formatCel } from './format.ts'

class StringsNamespace {}

/** The string and regular expression functions of Kubernetes that the library lacks. */
export function registerStringFunctions(environment: Environment): void {
  environment
    .registerType('StringsNamespace', StringsNamespace)
    .registerConstant('strings', 'StringsNamespace', new StringsNamespace())
    .registerFunction('StringsNamespace.quote(string): string', (_: unknown, text: string) => quoted(text))
    .registerFunction('string.charAt(int): string', charAt)
    .registerFunction('string.replace(string, string): string', (text: string, from: string, to: string) =>
      text.replaceAll(from, () => to),
    )
    .registerFunction('string.replace(string, string, int): string', replaceSome)
    .registerFunction('string.format(list): string', (template: string, values: unknown[]) =>
      formatCel(template, values),
    )
    .registerFunction(
      'string.find(string): string',
      (text: string, pattern: string) => goRegExp(pattern).exec(text)?.[0] ?? '',
    )
    .registerFunction('string.findAll(string): list<string>', (text: string, pattern: string) =>
      findAll(text, pattern, -1),
    )
    .registerFunction(
      'string.findAll(string, int): list<string>',
      (text: string, pattern: string, limit: bigint) => findAll(text, pattern, Number(limit)),
    )
}

function charAt(text: string, index: bigint): string {
  const characters = [...text]
  const position = Number(index)
  if (position < 0 || position > characters.length) throw new RangeError(`index out of range: ${index}`)
  return characters[position] ?? ''
}

function replaceSome(text: string, from: string, to: string, limit: bigint): string {
  if (limit < 0n) return text.replaceAll(from, () => to)
  let remaining = Number(limit)
  return text.replaceAll(from, found => (remaining-- > 0 ? to : found))
}

function findAll(text: string, pattern: string, limit: number): string[] {
  const found: string[] = []
  if (limit === 0) return found
  for (const match of goRegExp(pattern).matchAll(text)) {
    found.push(match[0])
    if (found.length === limit) break
  }
  return found
}

const escapes: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
}

function quoted(text: string): string {
  return `"${[...text].map(char => escapes[char] ?? char).join('')}"`
}
