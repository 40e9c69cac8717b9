// SPDX-License-Identifier: Apache-2.0

import { labelValue, qualifiedName } from '@grove/apimachinery'
import type { KubeObject } from '../object.ts'
import type { Resource } from '../registry/resource.ts'
import { refuse } from './status.ts'

/** Which objects a list, watch or collection deletion is about. Undefined means all. */
export type Selection = ((object: KubeObject) => boolean) | undefined

export function parseSelection(resource: Resource, query: URLSearchParams): Selection {
  const byLabels = parseLabelSelector(query.get('labelSelector') ?? '')
  const byFields = parseFieldSelector(resource, query.get('fieldSelector') ?? '')
  if (byLabels && byFields) return object => byLabels(object.metadata.labels ?? {}) && byFields(object)
  if (byLabels) return object => byLabels(object.metadata.labels ?? {})
  return byFields
}

type Labels = Readonly<Record<string, string>>
type LabelRequirement = (labels: Labels) => boolean

export function parseLabelSelector(text: string): LabelRequirement | undefined {
  const requirements = splitRequirements(text).map(part => parseLabelRequirement(part, text))
  if (requirements.length === 0) return undefined
  return labels => requirements.every(matches => matches(labels))
}

/** At commas that are not inside the parentheses of a set. */
function splitRequirements(text: string): string[] {
  return text
    .split(/,(?![^(]*\))/)
    .map(part => part.trim())
    .filter(part => part !== '')
}

const setPattern = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/
const comparisonPattern = /^([^\s=!<>]+)\s*(==|=|!=|<|>)\s*([^\s=!<>]*)$/
const existencePattern = /^(!?)\s*([^\s=!<>()]+)$/

function parseLabelRequirement(part: string, whole: string): LabelRequirement {
  const set = setPattern.exec(part)
  if (set) {
    const key = checkKey(set[1]!)
    const values = new Set(set[3]!.split(',').map(value => checkValue(key, value.trim())))
    return set[2] === 'in'
      ? labels => Object.hasOwn(labels, key) && values.has(labels[key]!)
      : labels => !Object.hasOwn(labels, key) || !values.has(labels[key]!)
  }
  const comparison = comparisonPattern.exec(part)
  if (comparison) return compare(checkKey(comparison[1]!), comparison[2]!, comparison[3]!)
  const existence = existencePattern.exec(part)
  if (existence) {
    const key = checkKey(existence[2]!)
    return existence[1] ? labels => !Object.hasOwn(labels, key) : labels => Object.hasOwn(labels, key)
  }
  throw refuse.badRequest(
    `unable to parse requirement: found '${part.split(/\s+/)[1] ?? part}', expected: in, notin, =, ==, !=, gt, lt (${whole})`,
  )
}

function compare(key: string, operator: string, value: string): LabelRequirement {
  checkValue(key, value)
  switch (operator) {
    case '!=':
      return labels => labels[key] !== value
    case '<':
    case '>': {
      if (!/^-?\d+$/.test(value))
        throw refuse.badRequest(
          `values[0][${key}]: Invalid value: "${value}": for 'Gt', 'Lt' operators, the value must be an integer`,
        )
      const bound = Number(value)
      const isNumber = (text: string | undefined) => text !== undefined && /^-?\d+$/.test(text)
      return operator === '<'
        ? labels => isNumber(labels[key]) && Number(labels[key]) < bound
        : labels => isNumber(labels[key]) && Number(labels[key]) > bound
    }
    default:
      return labels => labels[key] === value
  }
}

function checkKey(key: string): string {
  const problem = qualifiedName(key)
  if (problem.length > 0)
    throw refuse.badRequest(
      `unable to parse requirement: <nil>: Invalid value: "${key}": ${problem.join('; ')}`,
    )
  return key
}

function checkValue(key: string, value: string): string {
  const problem = labelValue(value)
  if (problem.length > 0)
    throw refuse.badRequest(
      `unable to parse requirement: values[0][${key}]: Invalid value: "${value}": ${problem.join('; ')}`,
    )
  return value
}

function parseFieldSelector(resource: Resource, text: string): Selection {
  const parts = text
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== '')
  if (parts.length === 0) return undefined
  const requirements = parts.map(part => {
    const match = /^([^=!]+)(==|=|!=)(.*)$/.exec(part)
    if (!match) throw refuse.badRequest(`invalid selector: '${text}'; can't understand '${part}'`)
    const [, field, operator, value] = match as unknown as [string, string, string, string]
    const read = fieldReader(resource, field)
    return operator === '!='
      ? (object: KubeObject) => read(object) !== value
      : (object: KubeObject) => read(object) === value
  })
  return object => requirements.every(matches => matches(object))
}

function fieldReader(resource: Resource, field: string): (object: KubeObject) => string {
  if (field === 'metadata.name') return object => object.metadata.name ?? ''
  if (field === 'metadata.namespace' && resource.namespaced) return object => object.metadata.namespace ?? ''
  const read = resource.selectableFields[field]
  if (!read) throw refuse.badRequest(unsupportedField(resource, field))
  return read
}

function unsupportedField(resource: Resource, field: string): string {
  const kind = resource.group
    ? `${resource.group}/${resource.version}, Kind=${resource.kind}`
    : `${resource.version}, Kind=${resource.kind}`
  if (!resource.struct)
    return `Unable to find "${kind}" that match label selector "", field selector "${field}": field label not supported: ${field}`
  if (Object.keys(resource.selectableFields).length > 0) return `field label not supported: ${field}`
  return `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`
}
