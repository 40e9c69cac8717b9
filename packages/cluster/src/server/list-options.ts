// SPDX-License-Identifier: Apache-2.0

import { type FieldError, fieldError } from '@grove/apimachinery'
import { isTrue } from './request-info.ts'
import { refuse } from './status.ts'

/** What the query of a list or watch says, beyond selectors. */
export interface ListOptions {
  readonly watch: boolean
  readonly limit: number | undefined
  readonly continue: string
  /** The text of the client; empty when it did not say. */
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
  if (errors.length > 0) throw refuse.invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors)
  return options
}

function optionErrors(options: ListOptions, match: string): FieldError[] {
  const errors: FieldError[] = []
  if (options.watch) {
    if (options.sendInitialEvents === undefined) {
      if (match !== '')
        errors.push(
          fieldError.forbidden(
            'resourceVersionMatch',
            'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
          ),
        )
    } else if (match !== 'NotOlderThan') {
      errors.push(
        match === ''
          ? fieldError.forbidden(
              'resourceVersionMatch',
              'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
            )
          : fieldError.unsupported('resourceVersionMatch', match, ['NotOlderThan']),
      )
    }
    return errors
  }
  if (options.sendInitialEvents !== undefined)
    errors.push(fieldError.forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'))
  if (match !== '') {
    if (options.continue)
      errors.push(
        fieldError.forbidden(
          'resourceVersionMatch',
          'resourceVersionMatch is forbidden when continue is provided',
        ),
      )
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

function parseNumber(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null || text === '') return undefined
  if (!/^-?\d+$/.test(text)) throw refuse.badRequest(`strconv.ParseInt: parsing "${text}": invalid syntax`)
  return Number(text)
}

/** A resourceVersion as a revision; 0 when the client does not care. */
export function parseRevision(text: string, watch = false): number {
  if (text === '') return 0
  if (/^\d+$/.test(text)) return Number(text)
  const why = `resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`
  throw watch ? refuse.unexpected(why) : refuse.badRequest(`invalid resource version: ${why}`)
}
