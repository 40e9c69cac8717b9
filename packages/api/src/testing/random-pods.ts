// SPDX-License-Identifier: Apache-2.0

// Random pod templates for tests and benchmarks, drawn from the type table, so that every field of every type occurs.
// The result depends on the seed alone.
import { type GoStruct, type GoType, goType, jsonFields } from '../revision/go-types.ts'

export type RandomNumber = (below: number) => number

/** A small generator of uniform integers (mulberry32). */
export function seededRandom(seed: number): RandomNumber {
  let state = seed >>> 0
  return below => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

const texts = ['', 'a', 'b', 'main', 'x/y', 'ünï', 'z\u{1f600}', '\uffee', 'a b', '8080']
const quantities = [
  '0',
  '1',
  '500m',
  '0.5',
  '1Gi',
  '1024Mi',
  '1.5Gi',
  '2k',
  '12e3',
  '0.1n',
  '7Pi',
  '+3',
  '120Mi',
]
const integers = [0, 1, 2, 10, 30, 420, 8080, -1, 2 ** 31 - 1]
const resourceNames = ['cpu', 'memory', 'nvidia.com/gpu', 'hugepages-2Mi', '1']
/** Only the API server writes these, and they have decoding rules of their own. */
const unwritable = new Set(['v1.Time', 'v1.ManagedFieldsEntry', 'time.Time'])

/** A JSON value of a Go type. `density` of ten fields are set. `loose` adds nulls and empty lists and maps. */
function randomValue(type: GoType, random: RandomNumber, density = 3, loose = false): unknown {
  switch (type.kind) {
    case 'scalar':
      return type.zero === ''
        ? pick(texts, random)
        : type.zero === 0
          ? randomInteger(type, random)
          : random(2) === 0
    case 'intOrString':
      return random(2) === 0 ? pick(integers, random) : pick(texts, random)
    case 'quantity':
      return pick(quantities, random)
    case 'pointer':
      return randomValue(type.element, random, density, loose)
    case 'list':
      return Array.from({ length: loose ? random(3) : random(3) + 1 }, () =>
        randomValue(type.element, random, density, loose),
      )
    case 'map': {
      const keys = type.element.kind === 'quantity' ? resourceNames : texts
      const length = loose ? random(3) : random(3) + 1
      return Object.fromEntries(
        Array.from({ length }, () => [pick(keys, random), randomValue(type.element, random, density, loose)]),
      )
    }
    case 'struct':
      return randomStruct(type, random, density, loose)
  }
}

function randomStruct(type: GoStruct, random: RandomNumber, density: number, loose: boolean): unknown {
  const object: Record<string, unknown> = {}
  for (const [, { jsonName, type: fieldType }] of jsonFields(type)) {
    if (unwritable.has(elementName(fieldType)) || random(10) >= density) continue
    object[jsonName] = loose && random(12) === 0 ? null : randomValue(fieldType, random, density, loose)
  }
  return object
}

/** Calls `visit` for every struct in a JSON value of the type, the outermost last. */
export function eachStruct(
  type: GoType,
  value: unknown,
  visit: (object: Record<string, unknown>, type: GoStruct) => void,
): void {
  if (value === null || value === undefined) return
  if (type.kind === 'pointer') eachStruct(type.element, value, visit)
  else if (type.kind === 'list') for (const item of value as unknown[]) eachStruct(type.element, item, visit)
  else if (type.kind === 'map') for (const item of Object.values(value)) eachStruct(type.element, item, visit)
  else if (type.kind === 'struct') {
    const object = value as Record<string, unknown>
    for (const [, field] of jsonFields(type)) eachStruct(field.type, object[field.jsonName], visit)
    visit(object, type)
  }
}

export const podSpecType = goType('v1.PodSpec')

export function randomPodSpec(seed: number, density = 3, loose = false): Record<string, unknown> {
  return randomValue(podSpecType, seededRandom(seed), density, loose) as Record<string, unknown>
}

/** The spec of a PodCliqueSet with the given number of cliques. */
export function randomSetSpec(seed: number, cliques = 3, density = 3, loose = false) {
  const random = seededRandom(seed)
  const map = goType('map[string]string')
  return {
    replicas: random(4),
    template: {
      cliqueStartupType: 'CliqueStartupTypeAnyOrder',
      priorityClassName: pick(['', 'high'], random),
      cliques: Array.from({ length: cliques }, (_, index) => ({
        name: `clique-${index}`,
        labels: randomValue(map, random, density, loose) as Record<string, string>,
        annotations: randomValue(map, random, density, loose) as Record<string, string>,
        spec: {
          roleName: `role-${index}`,
          replicas: random(5) + 1,
          podSpec: randomValue(podSpecType, random, density, loose) as Record<string, unknown>,
        },
      })),
    },
  }
}

function elementName(type: GoType): string {
  return type.kind === 'pointer' || type.kind === 'list' ? elementName(type.element) : type.name
}

function randomInteger(type: GoType, random: RandomNumber): number {
  const value = pick(integers, random)
  return type.name === 'uint8' ? Math.abs(value) % 256 : value
}

function pick<T>(values: readonly T[], random: RandomNumber): T {
  return values[random(values.length)]!
}
