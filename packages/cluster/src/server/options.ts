// SPDX-License-Identifier: Apache-2.0

import { type FieldError, fieldError } from '@grove/apimachinery'
import { refuse } from './status.ts'

export type FieldValidation = 'Strict' | 'Warn' | 'Ignore'

/** What the query of a write says. */
export interface WriteOptions {
  readonly dryRun: boolean
  readonly fieldManager: string
  readonly fieldValidation: FieldValidation
  readonly force: boolean | undefined
}

const metaGroup = 'meta.k8s.io'
const maximumManagerLength = 128

/** `kind` is the name of the options in messages: CreateOptions, UpdateOptions, PatchOptions. */
export function parseWriteOptions(query: URLSearchParams, kind: string, userAgent: string): WriteOptions {
  const errors: FieldError[] = [...dryRunErrors(query.getAll('dryRun'))]
  const fieldValidation = query.get('fieldValidation') ?? ''
  if (!['', 'Strict', 'Warn', 'Ignore'].includes(fieldValidation))
    errors.push(fieldError.unsupported('fieldValidation', fieldValidation, ['', 'Ignore', 'Strict', 'Warn']))
  const fieldManager = query.get('fieldManager') ?? ''
  if (Buffer.byteLength(fieldManager) > maximumManagerLength)
    errors.push(fieldError.tooLong('fieldManager', maximumManagerLength))
  if (errors.length > 0) throw refuse.invalid({ group: metaGroup, kind }, '', errors)
  const force = query.get('force')
  return {
    dryRun: isDryRun(query.getAll('dryRun')),
    fieldManager: fieldManager || managerOf(userAgent),
    fieldValidation: (fieldValidation || 'Warn') as FieldValidation,
    force: force === null ? undefined : force === 'true' || force === '1',
  }
}

/** The program that sends: the user agent up to the version. */
function managerOf(userAgent: string): string {
  return (userAgent.split('/')[0] || 'unknown').slice(0, maximumManagerLength)
}

export function dryRunErrors(values: readonly string[]): FieldError[] {
  const set = values.filter(value => value !== '')
  return set.some(value => value !== 'All') ? [fieldError.unsupported('dryRun', set, ['All'])] : []
}

export function isDryRun(values: readonly string[]): boolean {
  return values.includes('All')
}
