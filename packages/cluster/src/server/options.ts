// SPDX-License-Identifier: Apache-2.0

import { type FieldError, fieldError } from '@grove/apimachinery'
import { apiError } from './status.ts'

export type FieldValidation = 'Strict' | 'Warn' | 'Ignore'

/** The query parameters of a write. */
export interface WriteOptions {
  readonly dryRun: boolean
  readonly fieldManager: string
  readonly fieldValidation: FieldValidation
  readonly force: boolean | undefined
}

const metaGroup = 'meta.k8s.io'
const maximumManagerLength = 128

export const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
}

/**
 * `kind` is the name of the options in messages: CreateOptions, UpdateOptions, PatchOptions. `type` is the
 * media type of the body. It determines which options a patch accepts.
 */
export function parseWriteOptions(
  query: URLSearchParams,
  kind: string,
  { userAgent, type }: { readonly userAgent: string; readonly type: string },
): WriteOptions {
  const errors: FieldError[] = []
  const fieldManager = query.get('fieldManager') ?? ''
  if (kind === 'PatchOptions') {
    if (type === patchTypes.apply && fieldManager === '')
      errors.push(fieldError.required('fieldManager', 'is required for apply patch'))
    if (type !== patchTypes.apply && query.has('force'))
      errors.push(fieldError.forbidden('force', 'may not be specified for non-apply patch'))
  }
  if (Buffer.byteLength(fieldManager) > maximumManagerLength)
    errors.push(fieldError.tooLong('fieldManager', maximumManagerLength))
  errors.push(...unprintable(fieldManager))
  errors.push(...dryRunErrors(query.getAll('dryRun')))
  const fieldValidation = query.get('fieldValidation') ?? ''
  if (!['', 'Strict', 'Warn', 'Ignore'].includes(fieldValidation))
    errors.push(fieldError.unsupported('fieldValidation', fieldValidation, ['', 'Ignore', 'Strict', 'Warn']))
  if (errors.length > 0) throw apiError.invalid({ group: metaGroup, kind }, '', errors)
  const force = query.get('force')
  return {
    dryRun: isDryRun(query.getAll('dryRun')),
    fieldManager: fieldManager || managerOf(userAgent),
    fieldValidation: (fieldValidation || 'Warn') as FieldValidation,
    force: force === null ? undefined : force === 'true' || force === '1',
  }
}

/** Field manager names must be printable, because kubectl shows them. */
function unprintable(manager: string): FieldError[] {
  let position = 0
  for (const char of manager) {
    if (/[\p{C}\p{Z}]/u.test(char) && char !== ' ') {
      const code = char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
      const why = `invalid character U+${code} (at position ${position})`
      return [fieldError.invalid('fieldManager', manager, why)]
    }
    position += Buffer.byteLength(char)
  }
  return []
}

/** The default field manager: the user agent up to the version. */
function managerOf(userAgent: string): string {
  return (userAgent.split('/')[0] || 'unknown').slice(0, maximumManagerLength)
}

export function dryRunErrors(values: readonly string[]): FieldError[] {
  return values.some(value => value !== 'All') ? [fieldError.unsupported('dryRun', values, ['All'])] : []
}

export function isDryRun(values: readonly string[]): boolean {
  return values.includes('All')
}
