// SPDX-License-Identifier: Apache-2.0

// Random values that a structural schema accepts: required fields are set, keys of lists are unique, and optional
// fields are set at random.

export interface Schema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly additionalProperties?: Schema | boolean
  readonly enum?: readonly unknown[]
  readonly format?: string
  readonly minimum?: number
  readonly maxItems?: number
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-list-type'?: string
}

type Below = (limit: number) => number

const texts = ['a', 'b', 'main', 'data', 'x1']
const numbers = [0, 1, 2, 30, 8080]
const quantities = ['1', '500m', '1Gi', '1024Mi', 2]

export function randomBySchema(schema: Schema, below: Below, density: number, depth = 0): unknown {
  if (schema.enum) return schema.enum[below(schema.enum.length)]
  if (schema['x-kubernetes-int-or-string']) return quantities[below(quantities.length)]
  switch (schema.type) {
    case 'boolean':
      return below(2) === 0
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 0, numbers[below(numbers.length)]!)
    case 'array':
      return randomList(schema, below, density, depth)
    case 'object':
      return randomObject(schema, below, density, depth)
    default:
      return texts[below(texts.length)]
  }
}

function randomObject(schema: Schema, below: Below, density: number, depth: number): object {
  const values = schema.additionalProperties
  if (typeof values === 'object')
    return Object.fromEntries(
      Array.from({ length: below(3) }, (_, at) => [
        `example.com/k${at}`,
        randomBySchema(values, below, density, depth + 1),
      ]),
    )
  const required = new Set(schema.required)
  // Deep fields are rarer, so that the value stays finite.
  const isChosen = () => below(10) < density / (1 + depth / 2)
  return Object.fromEntries(
    Object.entries(schema.properties ?? {})
      .filter(([name]) => required.has(name) || isChosen())
      .map(([name, property]) => [name, randomBySchema(property, below, density, depth + 1)]),
  )
}

function randomList(schema: Schema, below: Below, density: number, depth: number): unknown[] {
  const keys =
    schema['x-kubernetes-list-map-keys'] ?? (schema['x-kubernetes-list-type'] === 'set' ? [] : undefined)
  const list = Array.from({ length: Math.min(below(3), schema.maxItems ?? 2) }, () =>
    randomBySchema(schema.items ?? {}, below, density, depth + 1),
  )
  if (!keys) return list
  const keyOf = (item: unknown) =>
    keys.length
      ? JSON.stringify(keys.map(key => (item as Record<string, unknown>)[key]))
      : JSON.stringify(item)
  return [...new Map(list.map(item => [keyOf(item), item])).values()]
}
