// SPDX-License-Identifier: Apache-2.0

import type { JsonObject } from '../../json-value.ts'

/** Invalid configurations of a widget, by the reason. */
export const refusedWidgets: Readonly<Record<string, JsonObject>> = {
  'a field that the schema does not have': { spec: { nothing: 1 } },
  'a text for a number': { spec: { size: 'a' } },
  'a number for a text': { spec: { title: 1.5 } },
  'an object for a text': { spec: { title: { a: [1, 'b', null, true] } } },
  'a text for a truth value': { spec: { nested: { deep: { y: 'yes' } } } },
  'a list for an object': { spec: { nested: ['a', { b: 1 }] } },
  'an object for a list': { spec: { tags: { a: 1 } } },
  'the same item twice': { spec: { env: [{ name: 'a' }, { name: 'a' }] } },
  'the same item twice by its default': { spec: { ports: [{ port: 80 }, { port: 80, protocol: 'TCP' }] } },
  'the same value twice': { spec: { tags: ['a<b', 'a<b'] } },
  'an item without its key': { spec: { env: [{ value: 'a' }] } },
  'a null item': { spec: { env: [null] } },
  'a text for an item': { spec: { env: ['a'] } },
  'an object in a set': { spec: { tags: [{ a: 1 }] } },
  'a null in a set': { spec: { tags: [null] } },
  'a list in a set': { spec: { tags: [['a']] } },
  'a wrong value in an atomic list': { spec: { args: ['a', 1] } },
  'several things at once': { spec: { args: [1, 2] } },
  'a list for something of two types': { spec: { either: ['a'] } },
  managedFields: { metadata: { managedFields: [] } },
  'another kind': { kind: 'Other' },
  'another version': { apiVersion: 'apply.test/v2' },
}
