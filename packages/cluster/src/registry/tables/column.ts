// SPDX-License-Identifier: Apache-2.0

import { formatAge } from '@grove/apimachinery'
import type { ObjectOf, WithMetadata } from '../../object.ts'
import type { Column } from '../resource.ts'

export const nameColumn: Column<WithMetadata> = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description:
    'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically.',
  cell: object => object.metadata.name,
}

export const ageColumn: Column<WithMetadata> = {
  name: 'Age',
  type: 'string',
  description: 'CreationTimestamp is a timestamp representing the server time when this object was created.',
  cell: (object, now) => formatAge(object.metadata.creationTimestamp, now),
}

export const nameAndAge: readonly Column<WithMetadata>[] = [nameColumn, ageColumn]

export function column<T>(
  name: string,
  cell: (object: ObjectOf<T>, now: number) => unknown,
  description = '',
): Column<T> {
  return { name, type: 'string', description, cell }
}

export function integerColumn<T>(
  name: string,
  cell: (object: ObjectOf<T>) => number | undefined,
  description = '',
): Column<T> {
  return { name, type: 'integer', description, cell: object => cell(object) ?? 0 }
}

/** Shown only with `-o wide`. */
export function wide<T>(column: Column<T>): Column<T> {
  return { ...column, priority: 1 }
}

export function noneIfEmpty(text: string | undefined): string {
  return text || '<none>'
}

/** `a=b,c=d`, sorted by key. */
export function formatLabels(labels: Readonly<Record<string, string>> | undefined): string {
  const entries = Object.entries(labels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
  return entries.length === 0 ? '<none>' : entries.map(([key, value]) => `${key}=${value}`).join(',')
}
