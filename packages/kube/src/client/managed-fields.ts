// SPDX-License-Identifier: Apache-2.0

import { cutMembers, type Step } from './json-cut.ts'
import type { KubeObject } from './object.ts'
import type { AnswerBody } from './transport.ts'

/** Where the objects of an answer are: it is one, it is a list of them, or it is a watch event about one. */
export type AnswerShape = 'object' | 'list' | 'event'

const key = Buffer.from('managedFields')
const inObject: readonly Step[] = [Buffer.from('metadata'), key]
const paths: Readonly<Record<AnswerShape, readonly Step[]>> = {
  object: inObject,
  list: [Buffer.from('items'), 'elements', ...inObject],
  event: [Buffer.from('object'), ...inObject],
}

/**
 * An answer without its objects' metadata.managedFields: they are two fifths of a pod as the server sends it, and more
 * than half of the work of parsing it, so they are cut out of the bytes before. Nothing else of that name vanishes.
 * Throws a SyntaxError as JSON.parse does; not promised is that what the managedFields hold is checked.
 */
export function parseWithoutManagedFields(body: AnswerBody, shape: AnswerShape): unknown {
  const isWorthwhile = typeof body !== 'string' && body.includes(key)
  const value = JSON.parse(isWorthwhile ? cutMembers(body, paths[shape]) : body.toString())
  if (shape === 'object') return withoutManagedFields(value)
  if (shape === 'event' && value?.object) value.object = withoutManagedFields(value.object)
  if (shape === 'list' && Array.isArray(value?.items)) value.items = value.items.map(withoutManagedFields)
  return value
}

/** Everything but managedFields, which only the server reads. */
export function withoutManagedFields<T extends KubeObject>(object: T): T {
  if (object?.metadata?.managedFields === undefined) return object
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}
