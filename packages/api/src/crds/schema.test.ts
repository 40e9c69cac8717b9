// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { int32, list, listMap, object, required, string } from './schema.ts'

interface Shelf {
  name: string
  boards?: number
}

test('an object lists its required properties by name', () => {
  assert.deepEqual(
    object<Shelf>('A shelf.', { name: required(string('Its name.')), boards: int32('How many.') }),
    {
      description: 'A shelf.',
      type: 'object',
      required: ['name'],
      properties: {
        name: { description: 'Its name.', type: 'string' },
        boards: { description: 'How many.', type: 'integer', format: 'int32' },
      },
    },
  )
})

test('a nested object is not mistaken for a required property', () => {
  const shelf = object<Shelf>('A shelf.', { name: required(string('Its name.')), boards: int32('How many.') })
  const room = object<{ shelf?: Shelf }>('A room.', { shelf })
  assert.equal(room.required, undefined)
  assert.equal(room.properties?.shelf, shelf)
})

test('the schema must have every property of the type, required where the type requires it', () => {
  // @ts-expect-error the name is required by the type
  object<Shelf>('A shelf.', { name: string('Its name.'), boards: int32('How many.') })
  // @ts-expect-error the boards are optional in the type
  object<Shelf>('A shelf.', { name: required(string('Its name.')), boards: required(int32('How many.')) })
  // @ts-expect-error the boards are missing
  object<Shelf>('A shelf.', { name: required(string('Its name.')) })
})

test('a list is atomic unless it declares map keys', () => {
  const shelf = string('A shelf.')
  assert.equal(list('Shelves.', shelf)['x-kubernetes-list-type'], undefined)
  const map = listMap('Shelves.', ['name'], shelf)
  assert.equal(map['x-kubernetes-list-type'], 'map')
  assert.deepEqual(map['x-kubernetes-list-map-keys'], ['name'])
})
