// SPDX-License-Identifier: Apache-2.0
import { deepEqual, ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { podFields, unsupportedFields } from './pod-fields.ts'

const schemas = ['kubernetes-newest', 'kubernetes-embedded'].map(name => {
  const file = join(import.meta.dirname, `../../../api/generate/${name}.generated.json`)
  const { definitions } = JSON.parse(readFileSync(file, 'utf8')) as {
    definitions: Record<string, { properties: Record<string, unknown> }>
  }
  return { name, fields: Object.keys(definitions['core.v1.PodSpec']?.properties ?? {}) }
})

for (const { name, fields } of schemas) {
  test(`the table of pod fields covers the PodSpec of ${name}`, () => {
    ok(fields.length > 30)
    deepEqual(
      fields.filter(field => !Object.hasOwn(podFields, field)),
      [],
    )
  })
}

test('the table of pod fields names no field that Kubernetes does not have', () => {
  const known = new Set(schemas.flatMap(({ fields }) => fields))
  deepEqual(
    Object.keys(podFields).filter(field => !known.has(field)),
    [],
  )
})

test('reports set fields that are unsupported or unknown, and no empty ones', () => {
  const spec = { containers: [], resourceClaims: [], schedulingGroup: { name: 'x' }, fieldOfTheFuture: 1 }
  deepEqual(unsupportedFields(spec), ['spec.fieldOfTheFuture', 'spec.schedulingGroup'])
})
