// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  addQuantities,
  compareQuantities,
  equalQuantities,
  formatQuantity,
  normalizeQuantity,
  parseQuantity,
  QuantityError,
  quantityOf,
  quantityValue,
  readQuantity,
  subtractQuantities,
} from './quantity.ts'

const rewritten = (text: string) => formatQuantity(parseQuantity(text))

describe('quantities are formatted like in Kubernetes', () => {
  const cases: [read: string, written: string][] = [
    ['0', '0'],
    ['0.5', '500m'],
    ['.5', '500m'],
    ['1.5Gi', '1536Mi'],
    ['1024Mi', '1Gi'],
    ['1000m', '1'],
    ['1500m', '1500m'],
    ['8', '8'],
    ['+1', '+1'],
    ['-1', '-1'],
    ['007', '007'],
    ['1e3', '1e3'],
    ['1E3', '1E3'],
    ['129e6', '129e6'],
    ['1.5e3', '1500'],
    ['15e2', '1500'],
    ['1e4', '10e3'],
    ['1e-10', '1e-9'],
    ['12Ei', '9223372036854775807'],
    ['-12Ei', '-9223372036854775807'],
    ['9223372036854775808', '9223372036854775808'],
    ['123456789012345678901234567890', '123456789012345678901234567890'],
    ['100000000000000000000', '100E'],
    ['0.1n', '1n'],
    ['0.0000000001', '1n'],
    ['1.1n', '2n'],
    ['0.1Ki', '102400m'],
    ['0.0001Ki', '102400u'],
    ['1023Ki', '1023Ki'],
    ['512Ki', '512Ki'],
    ['1Ki', '1Ki'],
    ['8Ki', '8Ki'],
    ['1.3Ki', '1331200m'],
    ['.', '0'],
    ['+', '0'],
    ['-0', '0'],
    ['0000', '0'],
    ['k', '0'],
    ['Ki', '0'],
    ['0Ki', '0'],
    ['1.', '1.'],
    ['1.G', '1.G'],
  ]
  for (const [read, written] of cases)
    test(`${read} → ${written}`, () => assert.equal(rewritten(read), written))

  test('a value beyond exa is kept, although Kubernetes would lose the suffix', () => {
    assert.equal(rewritten('1000E'), '1000E')
  })
})

describe('rejects invalid quantities with the messages of Kubernetes', () => {
  const format = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
  const suffix = "unable to parse quantity's suffix"
  const numeric = 'unable to parse numeric part of quantity'
  const size = 'quantity is too long, or its exponent is too large'
  const cases: [text: string, message: string][] = [
    ['', format],
    [' 1', format],
    ['1 Gi', format],
    ['abc', format],
    ['1.2.3', format],
    ['--1', suffix],
    ['1Gi5x', format],
    ['1e5.5', format],
    ['1é', format],
    ['1i', suffix],
    ['1gi', format],
    ['1ki', suffix],
    ['1KiB', format],
    ['1K', suffix],
    ['1mm', suffix],
    ['1-5', suffix],
    ['1+', suffix],
    ['1e', suffix],
    ['1e+', suffix],
    ['1eE5', suffix],
    ['e-10', numeric],
    ['.e-10', numeric],
    ['1e1001', size],
    ['1e-1001', size],
    ['1e999999999999999999999999', size],
  ]
  for (const [text, message] of cases)
    test(JSON.stringify(text), () =>
      assert.throws(
        () => parseQuantity(text),
        (error: unknown) => error instanceof QuantityError && error.message === message,
      ),
    )

  test('rejects a megabyte of text without parsing it', () => {
    for (const text of [
      '1'.repeat(1 << 20),
      '0'.repeat(1 << 20),
      'i'.repeat(1 << 20),
      `1.${'0'.repeat(1 << 20)}Gi`,
    ])
      assert.throws(() => parseQuantity(text), { code: 'size' })
  })
})

describe('a quantity in JSON', () => {
  test('may be a number, or have white space around it', () => {
    assert.equal(formatQuantity(readQuantity(8) as never), '8')
    assert.equal(formatQuantity(readQuantity(0.5) as never), '500m')
    assert.equal(formatQuantity(readQuantity(' 1Gi\n') as never), '1Gi')
  })
  test('has no other type', () => {
    for (const value of [null, undefined, true, {}, [], Number.NaN, Number.POSITIVE_INFINITY])
      assert.ok(readQuantity(value) instanceof QuantityError)
  })
})

describe('the internal state for the legacy hash', () => {
  const cases: [
    text: string,
    unscaled: bigint,
    scale: number,
    kept: string,
    isBig: boolean,
    format: string,
  ][] = [
    ['0', 0n, 0, '0', false, 'DecimalSI'],
    ['500m', 500n, -3, '500m', false, 'DecimalSI'],
    ['0.5', 5n, -1, '', false, 'DecimalSI'],
    ['2000', 2000n, 0, '', false, 'DecimalSI'],
    ['1Gi', 1073741824n, 0, '1Gi', false, 'BinarySI'],
    ['120Mi', 125829120n, 0, '', false, 'BinarySI'],
    ['99999Gi', 99999n << 30n, 0, '99999Gi', false, 'BinarySI'],
    ['100000Gi', 107374182400000000000000n, -9, '', true, 'BinarySI'],
    ['1Pi', 1125899906842624000000000n, -9, '', true, 'BinarySI'],
    ['1e-10', 1n, -9, '', true, 'DecimalExponent'],
    ['0.0000001Ki', 102400n, -9, '', true, 'DecimalSI'],
    ['999999999999999999', 999999999999999999n, 0, '999999999999999999', false, 'DecimalSI'],
    ['1000000000000000000', 1000000000000000000000000000n, -9, '', true, 'DecimalSI'],
  ]
  for (const [text, unscaled, scale, kept, isBig, format] of cases)
    test(text, () => assert.deepEqual(parseQuantity(text), { unscaled, scale, text: kept, isBig, format }))
})

const suffixes = ['', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'P', 'Ki', 'Mi', 'Gi', 'Ti', 'e3', 'e-2', 'E5']
const quantityTexts = fc
  .tuple(
    fc.constantFrom('', '+', '-'),
    fc.bigInt({ min: 0n, max: 10n ** 20n }),
    fc.option(fc.nat(10 ** 6), { nil: undefined }),
    fc.constantFrom(...suffixes),
  )
  .map(([sign, integer, fraction, suffix]) =>
    fraction === undefined ? `${sign}${integer}${suffix}` : `${sign}${integer}.${fraction}${suffix}`,
  )

describe('properties', () => {
  test('parsing a formatted quantity keeps the value, and formatting is stable', () => {
    fc.assert(
      fc.property(quantityTexts, text => {
        const quantity = parseQuantity(text)
        for (const written of [formatQuantity(quantity), normalizeQuantity(quantity)]) {
          assert.ok(equalQuantities(parseQuantity(written), quantity), written)
        }
        const written = rewritten(text)
        assert.equal(rewritten(written), written)
      }),
    )
  })

  test('equal values have one normal form', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }), fc.nat(3), (number, thousands) => {
        const plain = normalizeQuantity(parseQuantity(String(number)))
        const suffix = ['', 'm', 'u', 'n'][thousands]!
        assert.equal(
          normalizeQuantity(parseQuantity(`${number * 1000n ** BigInt(thousands)}${suffix}`)),
          plain,
        )
        assert.equal(normalizeQuantity(parseQuantity(`${number}.000`)), plain)
      }),
    )
  })

  test('comparison, sum and difference are consistent', () => {
    fc.assert(
      fc.property(quantityTexts, quantityTexts, (a, b) => {
        const left = parseQuantity(a)
        const right = parseQuantity(b)
        assert.equal(compareQuantities(left, right) + compareQuantities(right, left), 0)
        const difference = subtractQuantities(left, right)
        assert.ok(equalQuantities(addQuantities(difference, right), left))
        assert.equal(Math.sign(Number(difference.unscaled)), compareQuantities(left, right))
      }),
    )
  })

  test('any text is parsed or rejected without another error', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'0123456789.+-eEinumkKMGTPx ') }), text => {
        const result = readQuantity(text)
        assert.ok(result instanceof QuantityError || typeof formatQuantity(result) === 'string')
      }),
      { numRuns: 500 },
    )
  })
})

test('a sum has the format of the first summand that is not zero', () => {
  const sum = (a: string, b: string) => formatQuantity(addQuantities(parseQuantity(a), parseQuantity(b)))
  assert.equal(sum('1Gi', '1Gi'), '2Gi')
  assert.equal(sum('1Gi', '500m'), '1073741824500m')
  assert.equal(sum('0', '1536Mi'), '1536Mi')
  assert.equal(sum('500m', '500m'), '1')
  assert.equal(formatQuantity(subtractQuantities(parseQuantity('1'), parseQuantity('1500m'))), '-500m')
})

test('whole units are rounded away from zero', () => {
  assert.equal(quantityValue(parseQuantity('1500m')), 2n)
  assert.equal(quantityValue(parseQuantity('-1500m')), -2n)
  assert.equal(quantityValue(parseQuantity('1.5'), -3), 1500n)
  assert.equal(quantityValue(parseQuantity('1Ki'), 3), 2n)
  assert.equal(formatQuantity(quantityOf(3 * 1024 ** 3, 'BinarySI')), '3Gi')
})

test('equal values have equal texts', () => {
  const normal = (text: string) => normalizeQuantity(parseQuantity(text))
  for (const text of ['1Gi', '1024Mi', '1073741824', '1073741824000m', '1048576Ki'])
    assert.equal(normal(text), '1Gi')
  for (const text of ['1', '+1', '1000m', '1.0', '1e0', '01']) assert.equal(normal(text), '1')
  assert.equal(normal('1000E'), '1000E')
  assert.equal(normal(String(2n ** 70n)), String(2n ** 70n))
})
