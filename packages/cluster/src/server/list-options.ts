// SPDX-License-Identifier: Apache-2.0

import { type FieldError, fieldError, quote } from '@grove/apimachinery'
import { isTrue } from './request-info.ts'
import { apiError } from './status.ts'

/** The query parameters of a list or watch, without selectors. */
export interface ListOptions {
  readonly watch: boolean
  readonly limit: number | undefined
  readonly continue: string
  /** As the client sent it; empty when absent. */
  readonly resourceVersion: string
  readonly match: '' | 'Exact' | 'NotOlderThan'
  readonly allowBookmarks: boolean
  readonly sendInitialEvents: boolean | undefined
  readonly timeoutSeconds: number | undefined
}

const matches = ['Exact', 'NotOlderThan', '']

export function parseListOptions(query: URLSearchParams, watch: boolean): ListOptions {
  const resourceVersion = query.get('resourceVersion') ?? ''
  const match = query.get('resourceVersionMatch') ?? ''
  const continueToken = query.get('continue') ?? ''
  const initial = query.get('sendInitialEvents')
  const options: ListOptions = {
    watch,
    limit: parseNumber(query, 'limit') || undefined,
    continue: continueToken,
    resourceVersion,
    match: match as ListOptions['match'],
    allowBookmarks: isTrue(query.get('allowWatchBookmarks')),
    sendInitialEvents: initial === null ? undefined : isTrue(initial),
    timeoutSeconds: parseNumber(query, 'timeoutSeconds'),
  }
  const errors = optionErrors(options, match)
  if (errors.length > 0) throw apiError.invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors)
  return options
}

const forbiddenWithContinue = fieldError.forbidden(
  'resourceVersionMatch',
  'resourceVersionMatch is forbidden when continue is provided',
)

function optionErrors(options: ListOptions, match: string): FieldError[] {
  const errors: FieldError[] = []
  if (options.watch) {
    if (options.sendInitialEvents !== undefined && match !== 'NotOlderThan')
      errors.push(
        fieldError.forbidden(
          'resourceVersionMatch',
          'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
        ),
      )
    if (match !== '' && options.sendInitialEvents === undefined)
      errors.push(
        fieldError.forbidden(
          'resourceVersionMatch',
          'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
        ),
      )
    if (match !== '' && match !== 'NotOlderThan')
      errors.push(fieldError.unsupported('resourceVersionMatch', match, ['NotOlderThan']))
    if (options.continue) errors.push(forbiddenWithContinue)
    return errors
  }
  if (options.sendInitialEvents !== undefined)
    errors.push(fieldError.forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'))
  if (match !== '') {
    if (options.continue) errors.push(forbiddenWithContinue)
    if (!options.resourceVersion)
      errors.push(
        fieldError.forbidden(
          'resourceVersionMatch',
          'resourceVersionMatch is forbidden unless resourceVersion is provided',
        ),
      )
    if (!matches.includes(match)) errors.push(fieldError.unsupported('resourceVersionMatch', match, matches))
    if (match === 'Exact' && options.resourceVersion === '0')
      errors.push(
        fieldError.forbidden(
          'resourceVersionMatch',
          'resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
        ),
      )
  }
  return errors
}

/** Parses a number in a query, as Go does. */
export function parseNumber(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  const value = /^[+-]?\d+$/.test(text) ? BigInt(text.replace('+', '')) : undefined
  if (value === undefined)
    throw apiError.badRequest(`strconv.ParseInt: parsing ${quote(text)}: invalid syntax`)
  if (BigInt.asIntN(64, value) !== value)
    throw apiError.badRequest(`strconv.ParseInt: parsing ${quote(text)}: value out of range`)
  return Number(value)
}

/** Parses a resourceVersion. Returns 0 for "any version". */
export function parseRevision(text: string, watch = false): number {
  if (text === '') return 0
  if (/^\d+$/.test(text)) return Number(text)
  const why = `resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`
  throw watch ? apiError.unexpected(why) : apiError.badRequest(`invalid resource version: ${why}`)
}
