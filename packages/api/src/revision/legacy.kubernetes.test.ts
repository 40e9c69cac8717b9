// SPDX-License-Identifier: Apache-2.0

// Compares the legacy hash, its type table and quantities with Go. Needs Go, and downloads its modules once.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { formatQuantity, QuantityError, readQuantity } from '@grove/apimachinery'
import { generateLegacyTypes, legacyTypesPath, runLegacyProgram } from '../../generate/legacy/types.ts'
import { randomSetSpec, seededRandom } from '../testing/random-pods.ts'
import {
  encodeLegacySum,
  legacyGenerationHash,
  legacyPodTemplateHash,
  legacyPodTemplatePrint,
} from './legacy.ts'
import { legacyPrint } from './legacy-print.ts'

test('the type table matches Go', () => {
  assert.equal(readFileSync(legacyTypesPath, 'utf8'), generateLegacyTypes())
})

test('prints and hashes of random templates match Go', () => {
  const specs = Array.from({ length: 120 }, (_, seed) =>
    randomSetSpec(seed, 1 + (seed % 4), [1, 3, 5][seed % 3], seed % 2 === 0),
  )
  const results = runLegacyProgram('hashes', specs) as {
    error?: string
    prints: string[]
    sums: string[]
    totalSum: string
  }[]
  assert.equal(results.length, specs.length)
  for (const [seed, spec] of specs.entries()) {
    const result = results[seed]!
    assert.equal(result.error, undefined, `seed ${seed}`)
    for (const [index, clique] of spec.template.cliques.entries()) {
      assert.equal(legacyPodTemplatePrint(spec.template, clique), result.prints[index], `seed ${seed}`)
      assert.equal(legacyPodTemplateHash(spec.template, clique), encodeLegacySum(result.sums[index]!))
    }
    assert.equal(legacyGenerationHash(spec), encodeLegacySum(result.totalSum))
  }
})

test('random quantities are parsed, rejected, stored and printed as in Go', () => {
  const texts = randomQuantities(20_000)
  const [results] = runLegacyProgram('quantities', [texts]) as [
    { error?: string; print: string; text: string }[],
  ]
  for (const [index, text] of texts.entries()) {
    const result = results[index]!
    const quantity = readQuantity(text)
    if (quantity instanceof QuantityError) {
      // Go computes with exponents of any size, this implementation does not.
      if (quantity.code !== 'size') assert.equal(quantity.message, result.error, text)
      continue
    }
    assert.equal(legacyPrint('resource.Quantity', text), result.print, text)
    // Beyond exa Go loses the suffix, and therefore the amount.
    if (!/\dE$/.test(formatQuantity(quantity))) assert.equal(formatQuantity(quantity), result.text, text)
  }
})

function randomQuantities(count: number): string[] {
  const random = seededRandom(1)
  const alphabet = '0123456789.+-eEinumkKMGTPx'
  const suffixes = [
    '',
    'm',
    'u',
    'n',
    'k',
    'M',
    'G',
    'T',
    'P',
    'E',
    'Ki',
    'Mi',
    'Gi',
    'Ti',
    'Pi',
    'Ei',
    'e3',
    'e-7',
  ]
  const digits = (length: number) => Array.from({ length }, () => '0001258'[random(7)]).join('')
  return Array.from({ length: count }, (_, index) => {
    if (index % 2 === 0) return Array.from({ length: 1 + random(7) }, () => alphabet[random(26)]).join('')
    const fraction = random(3) === 0 ? `.${digits(random(14))}` : ''
    return `${['', '', '+', '-'][random(4)]}${digits(1 + random(22))}${fraction}${suffixes[random(18)]}`
  })
}
