// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isBlank, trimSpace } from './white-space.ts'

test('white space is what Go removes: with the control character NEL, without the byte order mark', () => {
  assert.equal(trimSpace('\u0085\u2003 a b\t\u0085'), 'a b')
  assert.equal(trimSpace('\ufeffa\ufeff'), '\ufeffa\ufeff')
  assert.equal(trimSpace(' \n'), '')
  assert.deepEqual(
    [undefined, '', ' \u0085', '\ufeff', 'a'].map(each => isBlank(each)),
    [true, true, true, false, false],
  )
})

test('of all characters, exactly 25 are white space', () => {
  const all = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code))
  assert.equal(all.filter(isBlank).length, 25)
})
