// SPDX-License-Identifier: Apache-2.0

// The part of JSONPath that printer columns use: fields, indexes, all items, and items by the value of a
// field.
import { isJsonObject } from '@grove/apimachinery'

export type JsonPath = (value: unknown) => unknown[]

const token =
  /\.?\[\?\(\s*@\.([\w.\-/\\]+)\s*==\s*(?:"([^"]*)"|'([^']*)'|([\w.-]+))\s*\)\]|\.?\[(\*|-?\d+)\]|\.?\['((?:[^'\\]|\\.)*)'\]|\.((?:[^.[\\]|\\.)+)/y

/** Returns undefined if the path uses other features. */
export function compileJsonPath(path: string): JsonPath | undefined {
  const steps: JsonPath[] = []
  token.lastIndex = 0
  while (token.lastIndex < path.length) {
    const match = token.exec(path)
    if (!match) return undefined
    steps.push(stepOf(match))
  }
  return value => steps.reduce<unknown[]>((found, step) => found.flatMap(step), [value])
}

function stepOf([, filterField, double, single, bare, index, quoted, name]: RegExpExecArray): JsonPath {
  if (filterField !== undefined) {
    const wanted = double ?? single ?? bare ?? ''
    const path = filterField.split('.').map(unescaped)
    return value =>
      itemsOf(value).filter(
        item => String(path.reduce<unknown>((at, key) => field(at, key)[0], item)) === wanted,
      )
  }
  if (index === '*') return itemsOf
  if (index !== undefined)
    return value => (Array.isArray(value) ? value.slice(Number(index)).slice(0, 1) : [])
  const key = unescaped(quoted ?? name ?? '')
  return key === '*' ? itemsOf : value => field(value, key)
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, '$1')
}

function field(value: unknown, key: string): unknown[] {
  return isJsonObject(value) && Object.hasOwn(value, key) ? [value[key]] : []
}

function itemsOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value
  return isJsonObject(value) ? Object.values(value) : []
}
