// SPDX-License-Identifier: Apache-2.0

import { formatAge } from '@grove/apimachinery'
import type { KubeObject } from '../object.ts'
import type { Column } from '../registry/resource.ts'
import { nameColumn } from '../registry/tables/column.ts'
import type { ApiextensionsCustomResourceColumnDefinition } from '../schema/types.generated.ts'
import { compileJsonPath } from './json-path.ts'

const ageDescription =
  'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata'

const defaultColumns: ApiextensionsCustomResourceColumnDefinition[] = [
  { name: 'Age', type: 'date', description: ageDescription, jsonPath: '.metadata.creationTimestamp' },
]

export function customColumns(
  declared: readonly ApiextensionsCustomResourceColumnDefinition[] | undefined,
): Column[] {
  return [nameColumn, ...(declared?.length ? declared : defaultColumns).map(toColumn)]
}

function toColumn({
  name = '',
  type = 'string',
  format,
  description,
  priority,
  jsonPath = '',
}: ApiextensionsCustomResourceColumnDefinition): Column {
  const path = compileJsonPath(jsonPath)
  return {
    name,
    type: type as Column['type'],
    format: format ?? '',
    description: description || `Custom resource definition column (in JSONPath format): ${jsonPath}`,
    priority: priority ?? 0,
    cell: (object: KubeObject, now) => {
      const found = path?.(object) ?? []
      if (found.length === 0) return null
      return cellOf(type, found.length === 1 ? found[0] : found, now)
    },
  }
}

function cellOf(type: string, value: unknown, now: number): unknown {
  switch (type) {
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null
    case 'number':
      return typeof value === 'number' ? value : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'date':
      return typeof value === 'string' ? formatAge(value, now) : null
    default:
      return typeof value === 'string' ? value : value === null ? null : JSON.stringify(value)
  }
}
