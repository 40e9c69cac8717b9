// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatCheck, supportedFormat } from './formats.ts'

const cases: Record<string, { valid: string[]; invalid: string[] }> = {
  bsonobjectid: { valid: ['507f1f77bcf86cd799439011'], invalid: ['507f1f77'] },
  byte: { valid: ['YWJj', 'YWI='], invalid: ['', 'YWJj=', 'YW Jj'] },
  cidr: { valid: ['10.0.0.0/8', '::1/64'], invalid: ['10.0.0.0', '10.0.0.0/33', 'x/8'] },
  creditcard: { valid: ['4111 1111 1111 1111'], invalid: ['4111 1111 1111 1112', '4111'] },
  date: { valid: ['2024-02-29'], invalid: ['2023-02-29', '2024-13-01', '2024-1-1'] },
  'date-time': {
    valid: ['2024-01-02T03:04:05Z', '2024-01-02t03:04:05.123+01:00'],
    invalid: ['2024-01-02', '2024-01-02T24:00:00Z', '2024-01-02T03:04:05', '2024-02-30T00:00:00Z'],
  },
  duration: { valid: ['1h30m', '5 days', '0'], invalid: ['', '5', 'soon'] },
  email: { valid: ['a@b.c', 'Ada <a+b@c.d>', '"q"@x.y'], invalid: ['a', '@b', 'a..b@c', '.a@b'] },
  hexcolor: { valid: ['#fff', '00FF00'], invalid: ['#ffff'] },
  hostname: { valid: ['a', 'my-host.example.com'], invalid: ['', 'my_host', 'a.b-', 'x'.repeat(256)] },
  ipv4: { valid: ['10.0.0.1', '010.0.0.1'], invalid: ['10.0.0', '256.0.0.1', '::1'] },
  ipv6: { valid: ['::1', '::ffff:1.2.3.4'], invalid: ['10.0.0.1', 'fe80::1%eth0'] },
  isbn: { valid: ['0321751043', '978-0321751041'], invalid: ['0321751044'] },
  isbn10: { valid: ['0-321-75104-3'], invalid: ['978-0321751041'] },
  isbn13: { valid: ['978-0321751041'], invalid: ['0321751043'] },
  'k8s-short-name': { valid: ['my-name'], invalid: ['a.b', 'My-name'] },
  'k8s-long-name': { valid: ['a.b'], invalid: ['a..b'] },
  mac: { valid: ['00:11:22:33:44:55', '0011.2233.4455'], invalid: ['00:11:22:33:44', '00-11:22:33:44:55'] },
  password: { valid: ['anything'], invalid: [] },
  rgbcolor: { valid: ['rgb(1, 2, 255)'], invalid: ['rgb(1,2)', 'rgb(1,2,256)'] },
  ssn: { valid: ['123-45-6789'], invalid: ['123456789'] },
  uri: { valid: ['http://a.b/c', '/x', 'urn:a:b'], invalid: ['', 'a/b', 'http://a:b/'] },
  uuid: { valid: ['550E8400-e29b-41d4-a716-446655440000'], invalid: ['550e8400'] },
  uuid3: {
    valid: ['550e8400-e29b-31d4-a716-446655440000'],
    invalid: ['550e8400-e29b-41d4-a716-446655440000'],
  },
  uuid4: {
    valid: ['550e8400-e29b-41d4-a716-446655440000'],
    invalid: ['550e8400-e29b-51d4-a716-446655440000'],
  },
  uuid5: {
    valid: ['550e8400-e29b-51d4-a716-446655440000'],
    invalid: ['550e8400-e29b-41d4-a716-446655440000'],
  },
}

test('each format accepts its valid values and rejects others', () => {
  for (const [format, { valid, invalid }] of Object.entries(cases)) {
    const check = formatCheck(supportedFormat(['string'], format)!)!
    for (const text of valid) assert.ok(check(text), `${text} is a ${format}`)
    for (const text of invalid) assert.ok(!check(text), `${text} is no ${format}`)
  }
})

test('a format applies only to its type', () => {
  assert.equal(supportedFormat(['integer'], 'int32'), 'int32')
  assert.equal(supportedFormat(['number'], 'double'), 'double')
  for (const [type, format] of [
    ['integer', 'float'],
    ['number', 'int32'],
    ['string', 'int32'],
    ['object', 'date'],
    ['string', 'made-up'],
  ] as const) {
    assert.equal(supportedFormat([type], format), undefined)
  }
})
