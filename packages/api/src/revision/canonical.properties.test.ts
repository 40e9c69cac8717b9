// SPDX-License-Identifier: Apache-2.0

// Properties of the canonical form, tested with random templates that use every field. A failure prints the seed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatQuantity, parseQuantity } from '@grove/apimachinery'
import fc from 'fast-check'
import {
  eachStruct,
  podSpecType,
  type RandomNumber,
  randomPodSpec,
  randomSetSpec,
  seededRandom,
} from '../testing/random-pods.ts'
import { canonicalPodTemplate, canonicalSetTemplate, sameCanonical } from './canonical.ts'
import { canonicalJson } from './canonical-json.ts'
import { canonicalPodSpec } from './canonical-pod.ts'
import { jsonFields } from './go-types.ts'
import { generationHash, podTemplateHash } from './hash.ts'
import { fieldDefaults, unorderedLists } from './pod-rules.ts'

type Members = Record<string, unknown>

const hash = (podSpec: unknown) => podTemplateHash({}, { spec: { podSpec } })

/** Runs a property over random pod specs of several densities, each with its own random source. */
function forAllPods(check: (podSpec: Members, random: RandomNumber) => void, numRuns = 150): void {
  fc.assert(
    fc.property(fc.nat(), fc.constantFrom(1, 3, 5), fc.boolean(), (seed, density, loose) =>
      check(randomPodSpec(seed, density, loose), seededRandom(seed + 1)),
    ),
    { numRuns },
  )
}

/** A copy with a change in every struct. `change` gets the fields of the struct with their declaring types. */
function changed(
  podSpec: Members,
  change: (object: Members, fields: ReturnType<typeof jsonFields>) => void,
): Members {
  const copy = structuredClone(podSpec)
  eachStruct(podSpecType, copy, (object, type) => change(object, jsonFields(type)))
  return copy
}

test('the canonical form is idempotent', () => {
  forAllPods(podSpec => {
    const canonical = canonicalPodSpec(podSpec)
    assert.deepEqual(canonicalPodSpec(canonical), canonical)
    assert.equal(hash(canonical), hash(podSpec))
  })
})

test('shuffling lists without a significant order never changes a hash', () => {
  forAllPods((podSpec, random) => {
    const shuffled = changed(podSpec, (object, fields) => {
      for (const [owner, { jsonName }] of fields)
        if (unorderedLists[owner]?.[jsonName] && Array.isArray(object[jsonName]))
          shuffle(object[jsonName], random)
    })
    assert.equal(hash(shuffled), hash(podSpec))
  })
})

test('reversing any other list changes the hash, unless it is a palindrome', () => {
  forAllPods(podSpec => {
    const canonical = canonicalPodSpec(podSpec)
    eachStruct(podSpecType, canonical, (object, type) => {
      for (const [owner, { jsonName }] of jsonFields(type)) {
        const list = object[jsonName]
        if (unorderedLists[owner]?.[jsonName] || !Array.isArray(list)) continue
        if (canonicalJson(list) === canonicalJson(list.toReversed())) continue
        const before = hash(canonical)
        list.reverse()
        assert.notEqual(hash(canonical), before, `${owner}.${jsonName}`)
        list.reverse()
      }
    })
  }, 40)
})

test('changing any value of a canonical form changes the hash', () => {
  forAllPods(podSpec => {
    const canonical = canonicalPodSpec(podSpec)
    const before = hash(canonical)
    for (const [object, key] of leaves(canonical)) {
      const value = object[key]
      object[key] = another(value)
      assert.notEqual(hash(canonical), before, `${key}: ${JSON.stringify(value)}`)
      object[key] = value
    }
    assert.equal(hash(canonical), before)
  }, 25)
})

test('removing any field of a canonical form changes the hash', () => {
  forAllPods(podSpec => {
    const canonical = canonicalPodSpec(podSpec)
    const before = hash(canonical)
    eachStruct(podSpecType, canonical, object => {
      for (const key of Object.keys(object)) {
        // A volume without a source is an emptyDir.
        if (key === 'emptyDir' && canonicalJson(object[key]) === '{}') continue
        const { [key]: value } = object
        delete object[key]
        assert.notEqual(hash(canonical), before, key)
        object[key] = value
      }
    })
  }, 25)
})

test('an explicit default has the hash of an absent field', () => {
  forAllPods((podSpec, random) => {
    const explicit = changed(podSpec, (object, fields) => {
      for (const [owner, { jsonName }] of fields) {
        const value = fieldDefaults[owner]?.[jsonName]
        if (value !== undefined && object[jsonName] === undefined && random(2) === 0) object[jsonName] = value
      }
    })
    assert.deepEqual(canonicalPodSpec(explicit), canonicalPodSpec(podSpec))
  })
})

test('absent, null, empty and zero are equal unless the type distinguishes them', () => {
  forAllPods((podSpec, random) => {
    const explicit = changed(podSpec, (object, fields) => {
      for (const [, { jsonName, type }] of fields) {
        if (object[jsonName] !== undefined || random(2) === 0) continue
        if (type.kind === 'list') object[jsonName] = random(2) === 0 ? [] : null
        else if (type.kind === 'map') object[jsonName] = random(2) === 0 ? {} : null
        else object[jsonName] = type.kind === 'scalar' ? type.zero : null
      }
    })
    assert.deepEqual(canonicalPodSpec(explicit), canonicalPodSpec(podSpec))
  })
})

test('an explicit zero differs from absent if the type distinguishes them', () => {
  forAllPods(podSpec => {
    const canonical = canonicalPodSpec(podSpec)
    const before = hash(canonical)
    eachStruct(podSpecType, canonical, (object, type) => {
      for (const [owner, { jsonName, type: fieldType }] of jsonFields(type)) {
        if (fieldType.kind !== 'pointer' || fieldType.element.kind !== 'scalar') continue
        if (object[jsonName] !== undefined || fieldDefaults[owner]?.[jsonName] === fieldType.element.zero)
          continue
        object[jsonName] = fieldType.element.zero
        assert.notEqual(hash(canonical), before, `${owner}.${jsonName}`)
        delete object[jsonName]
      }
    })
  }, 10)
})

test('quantities of the same amount have the same hash in every notation', () => {
  forAllPods(podSpec => {
    const rewritten = changed(podSpec, (object, fields) => {
      for (const [, { jsonName, type }] of fields) {
        const value = object[jsonName]
        if (type.kind === 'map' && type.element.kind === 'quantity' && value)
          for (const [name, text] of Object.entries(value)) (value as Members)[name] = otherText(text)
      }
    })
    assert.equal(hash(rewritten), hash(podSpec))
  })

  function otherText(text: unknown): unknown {
    const { unscaled, scale } = parseQuantity(String(text))
    return formatQuantity({ unscaled, scale, text: '', isBig: true, format: 'DecimalExponent' })
  }
})

test('the order of cliques and their replicas do not change a hash', () => {
  fc.assert(
    fc.property(fc.nat(), seed => {
      const spec = randomSetSpec(seed, 4)
      const other = structuredClone(spec)
      shuffle(other.template.cliques, seededRandom(seed))
      other.replicas += 3
      for (const clique of other.template.cliques) clique.spec.replicas = seed % 17
      assert.equal(generationHash(other), generationHash(spec))
      assert.ok(sameCanonical(canonicalSetTemplate(other), canonicalSetTemplate(spec)))
    }),
    { numRuns: 50 },
  )
})

test('input is never changed', () => {
  fc.assert(
    fc.property(fc.nat(), seed => {
      const spec = randomSetSpec(seed, 2, 5, true)
      const before = JSON.stringify(spec)
      generationHash(deepFreeze(spec))
      assert.equal(JSON.stringify(spec), before)
    }),
    { numRuns: 50 },
  )
})

test('values of a wrong type are accepted in every field', () => {
  forAllPods((podSpec, random) => {
    const broken = structuredClone(podSpec)
    const places = [...leaves(broken)]
    for (const strange of [null, [], {}, [null], 'x', -1, true, { a: { b: [{}] } }, [[[]]]]) {
      const place = places[random(places.length)]
      if (place) place[0][place[1]] = strange
      const canonical = canonicalPodSpec(broken)
      assert.deepEqual(canonicalPodSpec(canonical), canonical)
    }
  })
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      canonicalSetTemplate({ template: value })
      canonicalPodTemplate({ cliques: value }, { labels: value, annotations: value, spec: value })
      const canonical = canonicalPodSpec({ unknown: value, containers: value, volumes: [value] })
      assert.deepEqual(canonicalPodSpec(canonical), canonical)
    }),
  )
})

test('deep nesting and names such as __proto__ are hashed as given', () => {
  const deep = JSON.parse(`${'['.repeat(4000)}${']'.repeat(4000)}`) as unknown
  assert.match(hash({ unknown: deep }), /^z1-/)
  const named = JSON.parse('{"nodeSelector":{"__proto__":"x","constructor":"y"}}') as Members
  assert.equal(canonicalJson(canonicalPodSpec(named)), '{"nodeSelector":{"__proto__":"x","constructor":"y"}}')
})

function* leaves(value: unknown): Generator<[object: Members, key: string]> {
  if (typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries(value)) {
    if (typeof member === 'object' && member !== null) yield* leaves(member)
    else yield [value as Members, key]
  }
}

function another(value: unknown): unknown {
  if (typeof value === 'boolean') return !value
  return typeof value === 'number' ? value + 1 : `${value}1`
}

function shuffle(list: unknown[], random: RandomNumber): void {
  for (let index = list.length - 1; index > 0; index--) {
    const other = random(index + 1)
    ;[list[index], list[other]] = [list[other], list[index]]
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null)
    for (const member of Object.values(value)) deepFreeze(member)
  return Object.freeze(value)
}
