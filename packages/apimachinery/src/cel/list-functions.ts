// SPDX-License-Identifier: Apache-2.0
import type { Environment } from '@marcbachmann/cel-js'

class SetsNamespace {}

type List = readonly unknown[]

/** The list and set functions of Kubernetes. Sets are compared pairwise, as in Kubernetes. */
export function registerListFunctions(environment: Environment): void {
  environment
    .registerFunction('list.isSorted(): bool', (list: List) =>
      list.every((item, index) => index === 0 || compare(list[index - 1], item) <= 0),
    )
    .registerFunction('list.sum(): dyn', sum)
    .registerFunction('list.min(): dyn', (list: List) => extreme(list, 'min', -1))
    .registerFunction('list.max(): dyn', (list: List) => extreme(list, 'max', 1))
    .registerFunction('list.indexOf(dyn): int', (list: List, wanted: unknown) =>
      BigInt(list.findIndex(item => equalCel(item, wanted))),
    )
    .registerFunction('list.lastIndexOf(dyn): int', (list: List, wanted: unknown) =>
      BigInt(list.findLastIndex(item => equalCel(item, wanted))),
    )
    .registerFunction('list.includes(dyn): bool', contains)
    .registerFunction('list.distinct(): list', (list: List) =>
      list.filter((item, index) => list.findIndex(other => equalCel(item, other)) === index),
    )
    .registerFunction('list.reverse(): list', (list: List) => [...list].reverse())
    .registerFunction('list.flatten(): list', (list: List) => list.flat(1))
    .registerFunction('list.sort(): list', (list: List) => [...list].sort(compare))
    .registerFunction('list.slice(int, int): list', slice)
    .registerType('SetsNamespace', SetsNamespace)
    .registerConstant('sets', 'SetsNamespace', new SetsNamespace())
    .registerFunction('SetsNamespace.contains(list, list): bool', (_: unknown, list: List, subset: List) =>
      subset.every(item => contains(list, item)),
    )
    .registerFunction('SetsNamespace.equivalent(list, list): bool', (_: unknown, a: List, b: List) =>
      [...a.map(item => contains(b, item)), ...b.map(item => contains(a, item))].every(Boolean),
    )
    .registerFunction('SetsNamespace.intersects(list, list): bool', (_: unknown, a: List, b: List) =>
      a.some(item => contains(b, item)),
    )
}

function sum(list: List): unknown {
  if (list.every(item => typeof item === 'bigint')) return list.reduce<bigint>((a, b) => a + b, 0n)
  if (list.every(item => typeof item === 'number')) return list.reduce<number>((a, b) => a + b, 0)
  throw new TypeError('no such overload: sum() needs a list of numbers of one type')
}

function extreme(list: List, name: string, direction: 1 | -1): unknown {
  if (list.length === 0) throw new RangeError(`${name} called on empty list`)
  return list.reduce((best, item) => (compare(item, best) * direction > 0 ? item : best))
}

function slice(list: List, start: bigint, end: bigint): List {
  if (start < 0n || end < start || end > BigInt(list.length)) {
    throw new RangeError(`cannot slice(${start}, ${end}), list is length ${list.length}`)
  }
  return list.slice(Number(start), Number(end))
}

function contains(list: List, wanted: unknown): boolean {
  return list.some(item => equalCel(item, wanted))
}

function compare(a: unknown, b: unknown): number {
  const left = comparable(a)
  const right = comparable(b)
  if (
    left === undefined ||
    right === undefined ||
    (typeof left === 'string') !== (typeof right === 'string')
  ) {
    throw new TypeError('no such overload: the items cannot be compared')
  }
  return left < right ? -1 : left > right ? 1 : 0
}

/** Timestamps and durations are compared as numbers. */
function comparable(value: unknown): string | number | bigint | undefined {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'bigint':
      return value
    case 'boolean':
      return Number(value)
    case 'object': {
      const primitive: unknown = value === null ? undefined : value.valueOf()
      return typeof primitive === 'number' ? primitive : undefined
    }
    default:
      return undefined
  }
}

/** CEL equality: an int equals the double of the same value, and lists and maps are compared by content. */
function equalCel(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (isNumeric(a) && isNumeric(b)) return Number(a) === Number(b)
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => equalCel(item, b[index]))
  }
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (typeof a.valueOf() === 'number') return a.valueOf() === b.valueOf()
  const left = Object.entries(a)
  return (
    left.length === Object.keys(b).length &&
    left.every(
      ([key, value]) => Object.hasOwn(b, key) && equalCel(value, (b as Record<string, unknown>)[key]),
    )
  )
}

function isNumeric(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}
