// SPDX-License-Identifier: Apache-2.0

import type { KubeObject } from '../object.ts'
import type { Resource } from '../registry/resource.ts'
import { encode } from './presentation.ts'

export type IncludeObject = 'None' | 'Metadata' | 'Object'

function columnDefinitions(resource: Resource): object[] {
  return resource.columns.map(({ name, type, format, description, priority }) => ({
    name,
    type,
    format: format ?? '',
    description,
    priority: priority ?? 0,
  }))
}

/** Encodes objects as a table (server-side printing). */
export function encodeTable(
  resource: Resource,
  items: readonly KubeObject[],
  metadata: object,
  include: IncludeObject,
  now: number,
  withColumns = true,
): string {
  const rows = items.map(item => {
    const cells = JSON.stringify(resource.columns.map(column => column.cell(item, now) ?? null))
    return `{"cells":${cells}${rowObject(item, include)}}`
  })
  const columns = withColumns ? JSON.stringify(columnDefinitions(resource)) : 'null'
  return `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":${JSON.stringify(metadata)},"columnDefinitions":${columns},"rows":[${rows.join(',')}]}`
}

function rowObject(item: KubeObject, include: IncludeObject): string {
  if (include === 'None') return ',"object":null'
  return `,"object":${include === 'Object' ? encode(item) : JSON.stringify(partialMetadata(item))}`
}

export function partialMetadata(item: KubeObject): KubeObject {
  return { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: item.metadata }
}
