// SPDX-License-Identifier: Apache-2.0

import { isJsonObject, type JsonObject, MAX_JSON_DEPTH, nestedDeeperThan, setOwn } from '@grove/apimachinery'
import type { StructuralSchema } from '../../crds/index.ts'
import { kindOf, maximumProblems, type Problem } from './problem.ts'
import { boolean, duration, integer, intOrString, number, quantity, reject, text } from './scalars.ts'

/**
 * Decodes a value as its declared type. The result is complete: absent required fields are added with empty values. The
 * input is never changed, and the result shares all unchanged parts with it.
 */
export interface Decoder {
  decode(value: unknown, problems: Problem[]): unknown
  /** The value of an absent required field. */
  empty(): unknown
}

/** Exceptions that the schema does not express. Keys are paths such as `spec.template.cliques[].name`. */
export interface Peculiarities {
  readonly durations?: ReadonlySet<string>
  /** Lists that count as empty if absent, and whose entries must not be null. */
  readonly strictLists?: ReadonlySet<string>
  /** Fields that count as required although the schema does not require them. */
  readonly alsoRequired?: ReadonlyMap<string, readonly string[]>
}

export function compileDecoder(schema: StructuralSchema, peculiarities: Peculiarities, path = ''): Decoder {
  if (schema['x-kubernetes-int-or-string']) return schema.pattern ? quantity(schema.pattern) : intOrString
  switch (schema.type) {
    case 'string':
      return peculiarities.durations?.has(path) ? duration : text
    case 'boolean':
      return boolean
    case 'number':
      return number
    case 'integer':
      return integer(schema.format === 'int32' ? 32 : 64)
    case 'array': {
      const items = compileDecoder(schema.items ?? {}, peculiarities, `${path}[]`)
      return listDecoder(items, peculiarities.strictLists?.has(path) ?? false)
    }
    case 'object':
      if (schema.properties) return objectDecoder(schema, peculiarities, path)
      if (schema.additionalProperties) {
        return mapDecoder(compileDecoder(schema.additionalProperties, peculiarities, `${path}{}`))
      }
      return freeObject
    default:
      return anything
  }
}

/** Runs a decoder below `segment` and prepends the segment to the paths of its problems. */
function below(decoder: Decoder, value: unknown, segment: string | number, problems: Problem[]): unknown {
  const before = problems.length
  const decoded = decoder.decode(value, problems)
  for (let index = before; index < problems.length; index++) problems[index]!.path.push(segment)
  return decoded
}

function listDecoder(items: Decoder, isStrict: boolean): Decoder {
  return {
    // An absent required list is not replaced by an empty one: the schema rejects the null with its own message.
    empty: () => (isStrict ? [] : null),
    decode(value, problems) {
      if (!Array.isArray(value)) return reject(problems, `must be a list, not ${kindOf(value)}`)
      let copy: unknown[] | undefined
      for (let index = 0; index < value.length && problems.length < maximumProblems; index++) {
        const item: unknown = value[index]
        if (item === null && isStrict) {
          problems.push({ path: [index], text: 'must not be null' })
          continue
        }
        const decoded = item === null ? items.empty() : below(items, item, index, problems)
        if (decoded === item) continue
        copy ??= [...value]
        copy[index] = decoded
      }
      return copy ?? value
    },
  }
}

function mapDecoder(values: Decoder): Decoder {
  return {
    empty: () => null,
    decode(value, problems) {
      if (!isJsonObject(value)) return reject(problems, `must be an object, not ${kindOf(value)}`)
      let copy: JsonObject | undefined
      for (const key of Object.keys(value)) {
        if (problems.length >= maximumProblems) break
        const member = value[key]
        const decoded = member === null ? values.empty() : below(values, member, key, problems)
        if (decoded === member) continue
        copy ??= { ...value }
        setOwn(copy, key, decoded)
      }
      return copy ?? value
    },
  }
}

function objectDecoder(schema: StructuralSchema, peculiarities: Peculiarities, path: string): Decoder {
  const members = new Map<string, Decoder>()
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    members.set(name, compileDecoder(member, peculiarities, path === '' ? name : `${path}.${name}`))
  }
  const required = [...(schema.required ?? []), ...(peculiarities.alsoRequired?.get(path) ?? [])].filter(
    name => members.has(name),
  )
  const decoder: Decoder = {
    empty: () => decoder.decode({}, []),
    decode(value, problems) {
      if (!isJsonObject(value)) return reject(problems, `must be an object, not ${kindOf(value)}`)
      let copy: JsonObject | undefined
      for (const name of Object.keys(value)) {
        const member = value[name]
        const memberDecoder = members.get(name)
        if (!memberDecoder) continue
        if (problems.length >= maximumProblems) break
        if (member === null || member === undefined) {
          copy ??= { ...value }
          delete copy[name]
          continue
        }
        const decoded = below(memberDecoder, member, name, problems)
        if (decoded === member) continue
        copy ??= { ...value }
        copy[name] = decoded
      }
      for (const name of required) {
        if (value[name] !== undefined && value[name] !== null) continue
        copy ??= { ...value }
        copy[name] = members.get(name)!.empty()
      }
      return copy ?? value
    },
  }
  return decoder
}

/** Does not check the members, only that the value can be traversed. */
const freeObject: Decoder = {
  empty: () => null,
  decode: (value, problems) =>
    isJsonObject(value)
      ? anything.decode(value, problems)
      : reject(problems, `must be an object, not ${kindOf(value)}`),
}

const anything: Decoder = {
  empty: () => null,
  decode: (value, problems) =>
    nestedDeeperThan(value, MAX_JSON_DEPTH)
      ? reject(problems, `must not be nested deeper than ${MAX_JSON_DEPTH} levels`)
      : value,
}
