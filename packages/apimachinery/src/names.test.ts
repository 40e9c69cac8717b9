// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  annotationKey,
  dns1035Label,
  dns1123Label,
  dns1123Subdomain,
  environmentVariableName,
  labelValue,
  type NameRule,
  qualifiedName,
  validateAnnotations,
  validateLabels,
} from './names.ts'

const subdomainText =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const labelText =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
const keyText =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
const valueText =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
const envText =
  "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', regex used for validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')"

function check(rule: NameRule, cases: Record<string, string[]>): void {
  for (const [text, problems] of Object.entries(cases)) assert.deepEqual(rule(text), problems, text)
}

test('a DNS subdomain is lower case, dotted, and at most 253 bytes long', () => {
  check(dns1123Subdomain, {
    'a.b-c.d1': [],
    ['a'.repeat(253)]: [],
    ['a'.repeat(254)]: ['must be no more than 253 characters'],
    '': [subdomainText],
    'a..b': [subdomainText],
    'a-': [subdomainText],
    A: [subdomainText],
    'a\n': [subdomainText],
    ['A'.repeat(254)]: ['must be no more than 253 characters', subdomainText],
  })
})

test('a DNS label has no dots and at most 63 bytes', () => {
  check(dns1123Label, {
    'a-1': [],
    '1a': [],
    'a.b': ['must not contain dots'],
    a_b: [labelText],
    ['a'.repeat(64)]: ['must be no more than 63 characters'],
  })
  assert.deepEqual(dns1035Label('a1'), [])
  assert.match(dns1035Label('1a')[0]!, /^a DNS-1035 label must consist of .*'abc-123'/)
})

test('a label key is a name with an optional DNS subdomain before a slash', () => {
  check(qualifiedName, {
    app: [],
    'example.com/My.Name_1': [],
    '': ['name part must be non-empty', `name part ${keyText}`],
    'a b': [`name part ${keyText}`],
    '/a': ['prefix part must be non-empty'],
    'a/': ['name part must be non-empty', `name part ${keyText}`],
    'A/b': [`prefix part ${subdomainText}`],
    [`${'a'.repeat(254)}/b`]: ['prefix part must be no more than 253 bytes'],
    ['a'.repeat(64)]: ['name part must be no more than 63 bytes'],
    'a/b/c': [
      `a valid label key ${keyText} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ],
  })
})

test('a label value is empty or a name of at most 63 bytes', () => {
  check(labelValue, {
    '': [],
    'A_b.c-1': [],
    ['a'.repeat(64)]: ['must be no more than 63 bytes'],
    'a b': [valueText],
    é: [valueText],
    ['é'.repeat(32)]: ['must be no more than 63 bytes', valueText],
  })
})

test('an annotation key may have upper case before the slash', () => {
  assert.deepEqual(annotationKey('Example.COM/Note'), [])
  assert.deepEqual(annotationKey('-a'), [`name part ${keyText}`])
})

test('an environment variable does not start with a digit or with two dots', () => {
  check(environmentVariableName, {
    MY_VAR: [],
    'my.env-name': [],
    '1A': [envText],
    '': [envText],
    'A=B': [envText],
    '.': ["must not be '.'"],
    '..': ["must not be '..'"],
    '..a': ["must not start with '..'"],
  })
})

test('label errors contain the invalid key or value', () => {
  const errors = validateLabels({ app: 'ok', 'a b': 'c d' }, 'metadata.labels')
  assert.deepEqual(
    errors.map(error => [error.kind, error.field, error.value]),
    [
      ['Invalid value', 'metadata.labels', 'a b'],
      ['Invalid value', 'metadata.labels', 'c d'],
    ],
  )
})

test('annotations may have at most 256 KiB in total', () => {
  const value = 'é'.repeat(131_071)
  assert.deepEqual(validateAnnotations({ aa: value }, 'a'), [])
  assert.deepEqual(
    validateAnnotations({ aaa: value }, 'a').map(error => error.detail),
    ['may not be more than 262144 bytes'],
  )
})

test('every valid label is a valid subdomain, and no rule throws', () => {
  fc.assert(
    fc.property(fc.string(), text => {
      if (dns1123Label(text).length === 0) assert.deepEqual(dns1123Subdomain(text), [])
      for (const rule of [qualifiedName, labelValue, annotationKey, environmentVariableName, dns1035Label]) {
        assert.ok(Array.isArray(rule(text)))
      }
    }),
  )
})
