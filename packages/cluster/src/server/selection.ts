// SPDX-License-Identifier: Apache-2.0

import { matchesFields, matchesLabels, parseFieldSelector, parseLabelSelector } from '@grove/apimachinery'
import type { KubeObject } from '../object.ts'
import type { Resource } from '../registry/resource.ts'
import { apiVersionOf } from './presentation.ts'
import { apiError } from './status.ts'

/** The objects that a list, watch or collection deletion selects. Undefined selects all. */
export type Selection = ((object: KubeObject) => boolean) | undefined

export function parseSelection(resource: Resource, query: URLSearchParams): Selection {
  const byLabels = labelSelection(query.get('labelSelector') ?? '')
  const byFields = fieldSelection(resource, query.get('fieldSelector') ?? '')
  if (byLabels && byFields) return object => byLabels(object) && byFields(object)
  return byLabels ?? byFields
}

function labelSelection(text: string): Selection {
  const parsed = parseLabelSelector(text)
  if (!parsed.ok) throw apiError.badRequest(parsed.error)
  const { selector } = parsed
  return selector.length === 0 ? undefined : ({ metadata }) => matchesLabels(selector, metadata.labels)
}

function fieldSelection(resource: Resource, text: string): Selection {
  const parsed = parseFieldSelector(text)
  if (!parsed.ok) throw apiError.badRequest(parsed.error)
  const { selector } = parsed
  if (selector.length === 0) return undefined
  for (const { field } of selector)
    if (!fieldReader(resource, field)) throw apiError.badRequest(unsupportedField(resource, field))
  return object => matchesFields(selector, field => fieldReader(resource, field)?.(object))
}

function fieldReader(resource: Resource, field: string): ((object: KubeObject) => string) | undefined {
  if (field === 'metadata.name') return object => object.metadata.name ?? ''
  if (field === 'metadata.namespace' && resource.namespaced) return object => object.metadata.namespace ?? ''
  return resource.selectableFields[field]
}

function unsupportedField(resource: Resource, field: string): string {
  if (!resource.struct)
    return `Unable to find "${apiVersionOf(resource)}, Kind=${resource.kind}" that match label selector "", field selector "${field}": field label not supported: ${field}`
  if (Object.keys(resource.selectableFields).length > 0) return `field label not supported: ${field}`
  return `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`
}
