// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { defineWidgets, widget } from '../objects.ts'
import { chapter, type Fixture } from '../suite.ts'

const ruled = (rules: object[], properties: object) => ({
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', properties, 'x-kubernetes-validations': rules } },
    },
  },
})

async function rejection(fixture: Fixture, spec: object): Promise<string> {
  const rejected = await fixture.http.post(await defineWidgets(fixture), widget(fixture, 'w', spec))
  assert.equal(rejected.status, 422)
  return rejected.text('message')
}

export const customValidation = chapter('validation of custom resources', {
  'drops unknown fields': async fixture => {
    const made = await fixture.http.post(
      await defineWidgets(fixture),
      widget(fixture, 'w', { size: 1, nope: 1, parts: [{ name: 'a', nope: 2 }] }, { alsoNope: true }),
    )
    assert.equal(made.status, 201)
    assert.deepEqual(made.at('spec'), { size: 1, color: 'red', parts: [{ name: 'a', count: 1 }] })
    assert.equal(made.at('alsoNope'), undefined)
  },
  'warns of unknown fields': async fixture => {
    const made = await fixture.http.post(
      await defineWidgets(fixture),
      widget(fixture, 'w', { size: 1, nope: 1 }),
    )
    assert.equal(made.headers.warning, '299 - "unknown field \\"spec.nope\\""')
  },
  'rejects unknown fields with strict validation': async fixture => {
    const rejected = await fixture.http.post(
      await defineWidgets(fixture),
      widget(fixture, 'w', { size: 1, nope: 1 }, { more: 1 }),
      { query: { fieldValidation: 'Strict' } },
    )
    assert.equal(rejected.status, 400)
    assert.equal(
      rejected.at('message'),
      'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "more", unknown field "spec.nope"',
    )
  },
  'keeps unknown fields where the schema preserves them': async fixture => {
    const made = await fixture.http.post(
      await defineWidgets(fixture),
      widget(fixture, 'w', { size: 1, free: { a: [{ b: 1 }] } }),
    )
    assert.deepEqual(made.at('spec.free'), { a: [{ b: 1 }] })
  },
  'sets defaults, also in lists': async fixture => {
    const made = await fixture.http.post(
      await defineWidgets(fixture),
      widget(fixture, 'w', { size: 1, parts: [{ name: 'a' }, { name: 'b', count: 3 }] }),
    )
    assert.equal(made.at('spec.color'), 'red')
    assert.deepEqual(made.at('spec.parts'), [
      { name: 'a', count: 1 },
      { name: 'b', count: 3 },
    ])
  },
  'sets no defaults inside absent objects': async fixture => {
    const made = await fixture.http.post(await defineWidgets(fixture), {
      ...widget(fixture, 'w'),
      spec: undefined,
    })
    assert.equal(made.status, 201)
    assert.equal(made.at('spec'), undefined)
  },
  'rejects a number below its minimum': async fixture => {
    assert.equal(
      await rejection(fixture, { size: 0 }),
      `Widget.${fixture.id}.example.com "w" is invalid: spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1`,
    )
  },
  'rejects a value of the wrong type': async fixture => {
    assert.equal(
      await rejection(fixture, { size: 'big' }),
      `Widget.${fixture.id}.example.com "w" is invalid: spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"`,
    )
  },
  'rejects a value that is not in the enum': async fixture => {
    assert.equal(
      await rejection(fixture, { color: 'green' }),
      `Widget.${fixture.id}.example.com "w" is invalid: spec.color: Unsupported value: "green": supported values: "red", "blue"`,
    )
  },
  'names a missing required field': async fixture => {
    assert.equal(
      await rejection(fixture, { parts: [{ count: 1 }] }),
      `Widget.${fixture.id}.example.com "w" is invalid: spec.parts[0].name: Required value`,
    )
  },
  'reports all errors together': async fixture => {
    const message = await rejection(fixture, { size: 0, color: 'green' })
    assert.match(message, /spec\.size: Invalid value: 0/)
    assert.match(message, /spec\.color: Unsupported value: "green"/)
  },
  'a rule rejects with its message': async fixture => {
    const path = await defineWidgets(
      fixture,
      ruled([{ rule: 'self.low <= self.high', message: 'low must not be above high' }], {
        low: { type: 'integer' },
        high: { type: 'integer' },
      }),
    )
    const rejected = await fixture.http.post(path, widget(fixture, 'w', { low: 3, high: 2 }))
    assert.equal(rejected.status, 422)
    assert.match(rejected.text('message'), /spec: Invalid value: low must not be above high$/)
    assert.equal((await fixture.http.post(path, widget(fixture, 'w', { low: 1, high: 2 }))).status, 201)
  },
  'a transition rule makes a field immutable': async fixture => {
    const path = await defineWidgets(
      fixture,
      ruled([{ rule: 'self.fixed == oldSelf.fixed', message: 'fixed is immutable' }], {
        fixed: { type: 'string' },
        other: { type: 'string' },
      }),
    )
    await fixture.http.post(path, widget(fixture, 'w', { fixed: 'a' }))
    assert.equal((await fixture.http.mergePatch(`${path}/w`, { spec: { other: 'x' } })).status, 200)
    const rejected = await fixture.http.mergePatch(`${path}/w`, { spec: { fixed: 'b' } })
    assert.equal(rejected.status, 422)
    assert.match(rejected.text('message'), /fixed is immutable/)
  },
  'labels of custom objects must be strings': async fixture => {
    const rejected = await fixture.http.post(await defineWidgets(fixture), {
      ...widget(fixture, 'w'),
      metadata: { name: 'w', labels: { a: 1 } },
    })
    assert.equal(rejected.status, 400)
    assert.equal(
      rejected.at('message'),
      'Widget in version "v1" cannot be handled as a Widget: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
    )
  },
})
