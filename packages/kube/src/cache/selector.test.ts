// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fieldMatcher, labelMatcher } from './selector.ts'

const pod = {
  metadata: { name: 'p', labels: { app: 'web', tier: 'a', empty: '' } },
  spec: { nodeName: 'n1', replicas: 3 },
  status: { phase: 'Running' },
}

const labels: [selector: string, matches: boolean][] = [
  ['', true],
  ['app=web', true],
  ['app==web', true],
  ['app = web', true],
  ['app=other', false],
  ['app!=other', true],
  ['app!=web', false],
  ['missing!=web', true],
  ['app', true],
  ['missing', false],
  ['!missing', true],
  ['!app', false],
  ['empty=', true],
  ['missing=', false],
  ['tier in (a, b)', true],
  ['tier in (b,c)', false],
  ['missing in (a)', false],
  ['tier notin (b)', true],
  ['tier notin (a)', false],
  ['missing notin (a)', true],
  ['app=web,tier in (a,b),!missing', true],
  ['app=web,tier in (b,c)', false],
]

const fields: [selector: string, matches: boolean][] = [
  ['metadata.name=p', true],
  ['spec.nodeName==n1,status.phase!=Failed', true],
  ['spec.nodeName=', false],
  ['spec.missing=', true],
  ['spec.replicas=3', true],
  ['status.phase!=Running', false],
]

describe('selectors match as on the server', () => {
  for (const [selector, matches] of labels)
    it(`labels ${JSON.stringify(selector)}`, () => assert.equal(labelMatcher(selector)(pod), matches))
  for (const [selector, matches] of fields)
    it(`fields ${JSON.stringify(selector)}`, () => assert.equal(fieldMatcher(selector)(pod), matches))
  for (const selector of ['a b', 'a in b', 'a=b=c d', '=x'])
    it(`rejects ${JSON.stringify(selector)}`, () => assert.throws(() => labelMatcher(selector), TypeError))
})
