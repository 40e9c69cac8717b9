// SPDX-License-Identifier: Apache-2.0

import { equalJson, type FieldError, fieldError } from '@grove/apimachinery'
import type { ConfigMap, Secret } from '../../schema/types.generated.ts'
import type { Strategy } from '../resource.ts'

/** Keys of ConfigMaps and Secrets are file names. */
const keyPattern = /^[-._a-zA-Z0-9]+$/
const keyText =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
const maximumKeyLength = 253
const maximumDataBytes = 1024 * 1024

export const configMapStrategy: Partial<Strategy<ConfigMap>> = {
  validate: object => validateConfigMap(object),
  validateUpdate: (object, old) => [
    ...validateConfigMap(object),
    ...validateImmutable(object, old, ['data', 'binaryData']),
  ],
}

export const secretStrategy: Partial<Strategy<Secret>> = {
  validate: object => validateSecret(object),
  validateUpdate: (object, old) => [
    ...validateSecret(object),
    ...(object.type !== old.type ? [fieldError.immutable('type', object.type)] : []),
    ...validateImmutable(object, old, ['data']),
  ],
}

function validateConfigMap({ data = {}, binaryData: binary = {} }: ConfigMap): FieldError[] {
  const errors = [...validateKeys(data, 'data'), ...validateKeys(binary, 'binaryData')]
  for (const key of Object.keys(data))
    if (Object.hasOwn(binary, key))
      errors.push(fieldError.invalid(`data[${key}]`, key, 'duplicate of key present in binaryData'))
  if (sizeOf(data) + sizeOf(binary) > maximumDataBytes)
    errors.push(fieldError.tooLong('[]', maximumDataBytes))
  return errors
}

const requiredKeys: Record<string, readonly string[]> = {
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/dockercfg': ['.dockercfg'],
}

function validateSecret({ metadata, type = '', data = {} }: Secret): FieldError[] {
  const errors = validateKeys(data, 'data')
  for (const key of requiredKeys[type] ?? [])
    if (!Object.hasOwn(data, key)) errors.push(fieldError.required(`data[${key}]`))
    else if (key.startsWith('.')) errors.push(...validateDocument(data[key], `data[${key}]`))
  if (type === 'kubernetes.io/basic-auth' && !data.username && !data.password)
    errors.push(fieldError.required('data[username]'), fieldError.required('data[password]'))
  if (type === 'kubernetes.io/ssh-auth' && !data['ssh-privatekey'])
    errors.push(fieldError.required('data[ssh-privatekey]'))
  if (
    type === 'kubernetes.io/service-account-token' &&
    !metadata?.annotations?.['kubernetes.io/service-account.name']
  )
    errors.push(fieldError.required('metadata.annotations[kubernetes.io/service-account.name]'))
  if (sizeOf(data) > maximumDataBytes) errors.push(fieldError.tooLong('data', maximumDataBytes))
  return errors
}

/** Registry credentials are JSON. The error message does not contain them. */
function validateDocument(encoded: unknown, field: string): FieldError[] {
  try {
    JSON.parse(Buffer.from(String(encoded), 'base64').toString())
    return []
  } catch {
    const why = 'must be a JSON document'
    return [fieldError.invalid(field, '<secret contents redacted>', why)]
  }
}

function validateKeys(data: Record<string, unknown>, field: string): FieldError[] {
  return Object.keys(data).flatMap(key => {
    const errors: FieldError[] = []
    if (key.length > maximumKeyLength)
      errors.push(
        fieldError.invalid(`${field}[${key}]`, key, `must be no more than ${maximumKeyLength} characters`),
      )
    if (!keyPattern.test(key)) errors.push(fieldError.invalid(`${field}[${key}]`, key, keyText))
    // Keys become file names in a volume.
    else if (key === '.' || key === '..')
      errors.push(fieldError.invalid(`${field}[${key}]`, key, `must not be '${key}'`))
    else if (key.startsWith('..'))
      errors.push(fieldError.invalid(`${field}[${key}]`, key, "must not start with '..'"))
    return errors
  })
}

function validateImmutable<T extends { immutable?: boolean }>(
  object: T,
  old: T,
  fields: readonly (keyof T & string)[],
): FieldError[] {
  if (old.immutable !== true) return []
  const errors: FieldError[] = []
  if (object.immutable !== true)
    errors.push(fieldError.forbidden('immutable', 'field is immutable when `immutable` is set'))
  for (const field of fields)
    if (!equalJson(object[field], old[field]))
      errors.push(fieldError.forbidden(field, 'field is immutable when `immutable` is set'))
  return errors
}

function sizeOf(data: Record<string, unknown>): number {
  return Object.values(data).reduce<number>((sum, value) => sum + Buffer.byteLength(String(value)), 0)
}
