// SPDX-License-Identifier: Apache-2.0

import type { JsonObject } from '../../json-value.ts'

/** Invalid configurations of a widget, by the reason. */
export const invalidWidgets: Readonly<Record<string, JsonObject>> = {
  'a field that the schema does not have': { spec: { nothing: 1 } },
  'a string for a number': { spec: { size: 'a' } },
  'a number for a string': { spec: { title: 1.5 } },
  'an object for a string': { spec: { title: { a: [1, 'b', null, true] } } },
  'a string for a boolean': { spec: { nested: { deep: { y: 'yes' } } } },
  'a list for an object': { spec: { nested: ['a', { b: 1 }] } },
  'an object for a list': { spec: { tags: { a: 1 } } },
  'the same item twice': { spec: { env: [{ name: 'a' }, { name: 'a' }] } },
  'the same item twice by its default': { spec: { ports: [{ port: 80 }, { port: 80, protocol: 'TCP' }] } },
  'the same value twice': { spec: { tags: ['a<b', 'a<b'] } },
  'an item without its key': { spec: { env: [{ value: 'a' }] } },
  'a null item': { spec: { env: [null] } },
  'a string for an item': { spec: { env: ['a'] } },
  'an object in a set': { spec: { tags: [{ a: 1 }] } },
  'a null in a set': { spec: { tags: [null] } },
  'a list in a set': { spec: { tags: [['a']] } },
  'a wrong value in an atomic list': { spec: { args: ['a', 1] } },
  'several errors': { spec: { args: [1, 2] } },
  'a list for int-or-string': { spec: { either: ['a'] } },
  managedFields: { metadata: { managedFields: [] } },
  'another kind': { kind: 'Other' },
  'another version': { apiVersion: 'apply.test/v2' },
}
