// SPDX-License-Identifier: Apache-2.0
import { type FieldError, fieldError } from './field-error.ts'

/**
 * The rules of Kubernetes for names, labels and annotations. Each function returns the error messages of the
 * API server for a text, and an empty list for a valid one. Lengths are in bytes, as in Kubernetes.
 */
export type NameRule = (text: string) => string[]

const labelPattern = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const subdomainPattern = `${labelPattern}(\\.${labelPattern})*`
const label1035Pattern = '[a-z]([-a-z0-9]*[a-z0-9])?'
const labelKeyPattern = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
const labelValuePattern = `(${labelKeyPattern})?`
const envVarPattern = '[-._a-zA-Z][-._a-zA-Z0-9]*'

const labelRegExp = new RegExp(`^${labelPattern}$`)
const subdomainRegExp = new RegExp(`^${subdomainPattern}$`)
const label1035RegExp = new RegExp(`^${label1035Pattern}$`)
const labelKeyRegExp = new RegExp(`^${labelKeyPattern}$`)
const labelValueRegExp = new RegExp(`^${labelValuePattern}$`)
const envVarRegExp = new RegExp(`^${envVarPattern}$`)

const subdomainText = mustMatch(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  subdomainPattern,
  ['example.com'],
)
const labelText = mustMatch(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  labelPattern,
  ['my-name', '123-abc'],
)
const label1035Text = mustMatch(
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  label1035Pattern,
  ['my-name', 'abc-123'],
)
const labelKeyText = mustMatch(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  labelKeyPattern,
  ['MyName', 'my.name', '123-abc'],
)
const labelValueText = mustMatch(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  labelValuePattern,
  ['MyValue', 'my_value', '12345'],
)
const envVarText = mustMatch(
  "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit",
  envVarPattern,
  ['my.env-name', 'MY_ENV.NAME', 'MyEnvName1'],
)

/** Kubernetes puts a separator before each further example, which gives two spaces before "or". */
function mustMatch(rule: string, pattern: string, examples: readonly string[]): string {
  const list = examples.map(example => `'${example}', `).join(' or ')
  return `${rule} (e.g. ${list}regex used for validation is '${pattern}')`
}

export function dns1123Subdomain(text: string): string[] {
  const problems: string[] = []
  if (byteLength(text) > 253) problems.push('must be no more than 253 characters')
  if (!subdomainRegExp.test(text)) problems.push(subdomainText)
  return problems
}

export function dns1123Label(text: string): string[] {
  const problems: string[] = []
  if (byteLength(text) > 63) problems.push('must be no more than 63 characters')
  if (!labelRegExp.test(text)) {
    problems.push(subdomainRegExp.test(text) ? 'must not contain dots' : labelText)
  }
  return problems
}

export function dns1035Label(text: string): string[] {
  const problems: string[] = []
  if (byteLength(text) > 63) problems.push('must be no more than 63 characters')
  if (!label1035RegExp.test(text)) problems.push(label1035Text)
  return problems
}

/** The key of a label: an optional DNS subdomain and `/`, then a name. Finalizers follow the same rule. */
export function qualifiedName(text: string): string[] {
  const parts = text.split('/')
  if (parts.length > 2) {
    return [
      `a valid label key ${labelKeyText} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ]
  }
  const problems: string[] = []
  const name = parts.at(-1)!
  if (parts.length === 2) problems.push(...prefixProblems(parts[0]!))
  if (name === '') problems.push('name part must be non-empty')
  else if (byteLength(name) > 63) problems.push('name part must be no more than 63 bytes')
  if (!labelKeyRegExp.test(name)) problems.push(`name part ${labelKeyText}`)
  return problems
}

function prefixProblems(prefix: string): string[] {
  if (prefix === '') return ['prefix part must be non-empty']
  const problems: string[] = []
  if (byteLength(prefix) > 253) problems.push('prefix part must be no more than 253 bytes')
  if (!subdomainRegExp.test(prefix)) problems.push(`prefix part ${subdomainText}`)
  return problems
}

export function labelValue(text: string): string[] {
  const problems: string[] = []
  if (byteLength(text) > 63) problems.push('must be no more than 63 bytes')
  if (!labelValueRegExp.test(text)) problems.push(labelValueText)
  return problems
}

/** Like a label key, but the prefix may have upper case. */
export function annotationKey(text: string): string[] {
  return qualifiedName(text.toLowerCase())
}

export function environmentVariableName(text: string): string[] {
  const problems: string[] = []
  if (!envVarRegExp.test(text)) problems.push(envVarText)
  if (text === '.') problems.push("must not be '.'")
  else if (text === '..') problems.push("must not be '..'")
  else if (text.startsWith('..')) problems.push("must not start with '..'")
  return problems
}

/** One error per problem, with the invalid key or value. */
export function validateLabels(labels: Readonly<Record<string, string>>, field: string): FieldError[] {
  const errors: FieldError[] = []
  for (const [key, value] of Object.entries(labels)) {
    for (const problem of qualifiedName(key)) errors.push(fieldError.invalid(field, key, problem))
    for (const problem of labelValue(value)) errors.push(fieldError.invalid(field, value, problem))
  }
  return errors
}

const MAX_ANNOTATION_BYTES = 256 * 1024

export function validateAnnotations(
  annotations: Readonly<Record<string, string>>,
  field: string,
): FieldError[] {
  const errors: FieldError[] = []
  let size = 0
  for (const [key, value] of Object.entries(annotations)) {
    for (const problem of annotationKey(key)) errors.push(fieldError.invalid(field, key, problem))
    size += byteLength(key) + byteLength(value)
  }
  if (size > MAX_ANNOTATION_BYTES) errors.push(fieldError.tooLong(field, MAX_ANNOTATION_BYTES))
  return errors
}

function byteLength(text: string): number {
  return Buffer.byteLength(text, 'utf8')
}
