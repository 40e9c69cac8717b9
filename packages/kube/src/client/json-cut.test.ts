// SPDX-License-Identifier: Apache-2.0

// Compares the scanner with JSON.parse, for valid texts and for texts with random damage.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { cutMembers, memberAt, type Step } from './json-cut.ts'

type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Few names, so that a path often matches. */
const names = fc.constantFrom('a', 'b', 'items', 'ä€', '')
const values = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { maxDepth: 5, depthIdentifier: 'json' },
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('"a":1', '\\', '}]'),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(true, false, null),
    ),
    fc.dictionary(names, tie('value'), { maxKeys: 4, depthIdentifier: 'json' }),
    fc.array(tie('value'), { maxLength: 4, depthIdentifier: 'json' }),
  ),
})).value
const spaces = fc.constantFrom(undefined, 1, '\t', '\r\n ')
const memberSteps = names.map(name => Buffer.from(name))
const memberPaths = fc.array(memberSteps, { minLength: 1, maxLength: 3 })
const anyPaths = fc
  .tuple(fc.array(fc.oneof(memberSteps, fc.constant('elements' as const)), { maxLength: 3 }), memberSteps)
  .map(([steps, last]): readonly Step[] => [...steps, last])

/** Values in which the path leads to a member, usually between other members or elements. */
function valueAlong([step, ...rest]: readonly Step[]): fc.Arbitrary<unknown> {
  if (step === undefined) return values
  const inner = fc.oneof({ weight: 4, arbitrary: valueAlong(rest) }, { weight: 1, arbitrary: values })
  if (step === 'elements') return fc.array(inner, { maxLength: 4 })
  const others = fc.dictionary(names, values, { maxKeys: 2 })
  return fc.tuple(others, inner, others).map(([first, value, last]) => {
    const object = { ...first, [step.toString()]: value }
    for (const [name, other] of Object.entries(last)) object[name] ??= other
    return object
  })
}

interface Case {
  readonly path: readonly Step[]
  readonly text: string
}

const casesOf = (paths: fc.Arbitrary<readonly Step[]>): fc.Arbitrary<Case> =>
  fc
    .tuple(paths, spaces)
    .chain(([path, space]) =>
      valueAlong(path).map(value => ({ path, text: JSON.stringify(value, null, space) })),
    )

/** The reference: deletes in the parsed value. */
function deleteAt(value: unknown, [step, ...rest]: readonly Step[]): void {
  if (step === 'elements') {
    if (Array.isArray(value)) for (const element of value) deleteAt(element, rest)
  } else if (step !== undefined && isObject(value)) {
    if (rest.length === 0) delete value[step.toString()]
    else if (Object.hasOwn(value, step.toString())) deleteAt(value[step.toString()], rest)
  }
}

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    assert.ok(error instanceof SyntaxError)
    return undefined
  }
}

/** Replaces, removes or inserts one byte; most of them have a meaning in JSON. */
const damage = fc.record({
  at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  removed: fc.nat({ max: 2 }),
  inserted: fc.oneof(
    fc.constantFrom(
      ...['', '"', ',', ':', '[', ']', '{', '}', '\\', ' ', '0'].map(text => Buffer.from(text)),
    ),
    fc.uint8Array({ maxLength: 2 }),
  ),
})

function damaged(
  text: string,
  { at, removed, inserted }: typeof damage extends fc.Arbitrary<infer D> ? D : never,
) {
  const bytes = Buffer.from(text)
  const position = Math.floor(at * (bytes.length + 1))
  return Buffer.concat([bytes.subarray(0, position), inserted, bytes.subarray(position + removed)])
}

/** An invalid text stays invalid, unless the error is inside the member that is cut out. */
function assertDamageStays(bytes: Buffer, path: readonly Step[]): void {
  const [whole, cut] = [parse(bytes.toString()), parse(cutMembers(bytes, path))]
  if (whole) {
    assert.ok(cut, 'a valid text became invalid')
    // A member that the damage has duplicated may stay, so it is removed from both before the comparison.
    for (const { value } of [whole, cut]) deleteAt(value, path)
    assert.deepEqual(cut.value, whole.value)
  } else if (cut) {
    const member = memberAt(bytes, path)
    assert.ok(member !== undefined, 'an invalid text became valid although nothing was cut out')
    const inner = member.replace(/^,|,[ \t\r\n]*$/g, '')
    assert.equal(parse(`{${inner}}`), undefined, `hides an error outside of ${member}`)
  }
}

describe('cutMembers', () => {
  it('equals JSON.parse followed by delete, for any JSON, layout and path', () => {
    fc.assert(
      fc.property(casesOf(anyPaths), ({ text, path }) => {
        const expected: unknown = JSON.parse(text)
        deleteAt(expected, path)
        assert.deepEqual(JSON.parse(cutMembers(Buffer.from(text), path)), expected)
      }),
      { numRuns: 2_000 },
    )
  })

  it('keeps damaged texts invalid, unless the damage is inside the removed member', () => {
    fc.assert(
      fc.property(casesOf(memberPaths), damage, ({ text, path }, change) => {
        assertDamageStays(damaged(text, change), path)
      }),
      { numRuns: 5_000 },
    )
  })

  it('does not hide any damage of one byte', () => {
    const small = [
      '{"a":1}',
      '{"b":0,"a":[1]}',
      '{"a":"}","b":{}}',
      '{"b":1,"a":null,"b":2}',
      '{"a":{"b":1}}',
    ]
    for (const text of small)
      for (let position = 0; position <= text.length; position++)
        for (const inserted of ['', '"', ',', ':', '[', ']', '{', '}', '\\', ' ', '\0', '0'])
          for (const removed of [0, 1]) {
            const bytes = Buffer.from(text.slice(0, position) + inserted + text.slice(position + removed))
            for (const names of [['a'], ['b'], ['a', 'b']])
              assertDamageStays(
                bytes,
                names.map(name => Buffer.from(name)),
              )
          }
  })
})

describe('memberAt', () => {
  it('returns the member with its name, exactly if the path leads to one', () => {
    fc.assert(
      fc.property(casesOf(memberPaths), memberPaths, fc.boolean(), ({ text, path: along }, other, follow) => {
        const path = follow ? along : other
        const value: unknown = JSON.parse(text)
        let parent: unknown = value
        for (const step of path.slice(0, -1).map(String))
          parent = isObject(parent) && Object.hasOwn(parent, step) ? parent[step] : undefined
        const last = String(path.at(-1))
        const member = memberAt(Buffer.from(text), path)
        if (!isObject(parent) || !Object.hasOwn(parent, last)) return assert.equal(member, undefined)
        assert.deepEqual(JSON.parse(`{${member?.replace(/^,|,[ \t\r\n]*$/g, '')}}`), { [last]: parent[last] })
      }),
      { numRuns: 2_000 },
    )
  })
})
