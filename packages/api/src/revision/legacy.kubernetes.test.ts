// SPDX-License-Identifier: Apache-2.0

// Compares the legacy hash, its type table and quantities with Go. Needs Go, and its modules once from the network.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { formatQuantity, QuantityError, readQuantity } from '@grove/apimachinery'
import { generateLegacyTypes, legacyTypesPath, runLegacyProgram } from '../../generate/legacy/types.ts'
import {
  encodeLegacySum,
  legacyGenerationHash,
  legacyPodTemplateHash,
  legacyPodTemplatePrint,
} from './legacy.ts'
import { legacyPrint } from './legacy-print.ts'
import { randomSetSpec, seededRandom } from './random-pods.ts'

test('the type table is what Go says today', () => {
  assert.equal(readFileSync(legacyTypesPath, 'utf8'), generateLegacyTypes())
})

test('prints and hashes of random templates are those of Go', () => {
  const specs = Array.from({ length: 120 }, (_, seed) =>
    randomSetSpec(seed, 1 + (seed % 4), [1, 3, 5][seed % 3], seed % 2 === 0),
  )
  const answers = runLegacyProgram('hashes', specs) as {
    error?: string
    prints: string[]
    sums: string[]
    totalSum: string
  }[]
  assert.equal(answers.length, specs.length)
  for (const [seed, spec] of specs.entries()) {
    const answer = answers[seed]!
    assert.equal(answer.error, undefined, `seed ${seed}`)
    for (const [index, clique] of spec.template.cliques.entries()) {
      assert.equal(legacyPodTemplatePrint(spec.template, clique), answer.prints[index], `seed ${seed}`)
      assert.equal(legacyPodTemplateHash(spec.template, clique), encodeLegacySum(answer.sums[index]!))
    }
    assert.equal(legacyGenerationHash(spec), encodeLegacySum(answer.totalSum))
  }
})

test('random quantities are read, refused, held and written as in Go', () => {
  const texts = randomQuantities(20_000)
  const [answers] = runLegacyProgram('quantities', [texts]) as [
    { error?: string; print: string; text: string }[],
  ]
  for (const [index, text] of texts.entries()) {
    const answer = answers[index]!
    const quantity = readQuantity(text)
    if (quantity instanceof QuantityError) {
      // Go computes with exponents of any size; we do not.
      if (quantity.code !== 'size') assert.equal(quantity.message, answer.error, text)
      continue
    }
    assert.equal(legacyPrint('resource.Quantity', text), answer.print, text)
    // Beyond exa Go loses the suffix, hence the amount.
    if (!/\dE$/.test(formatQuantity(quantity))) assert.equal(formatQuantity(quantity), answer.text, text)
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
