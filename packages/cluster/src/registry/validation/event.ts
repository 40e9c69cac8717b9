// SPDX-License-Identifier: Apache-2.0

import { equalJson, type FieldError, fieldError, qualifiedName } from '@grove/apimachinery'
import type { Event } from '../../schema/types.generated.ts'
import { obeys } from './values.ts'

const longestName = 128
const longestNote = 1024

/**
 * Validates an Event. Events with only firstTimestamp and lastTimestamp just have to be in the right
 * namespace.
 */
export function validateEvent(event: Event): FieldError[] {
  const errors = validatePlace(event)
  return event.eventTime ? [...errors, ...validateReporter(event, 'reportingComponent')] : errors
}

/** Validates an events.k8s.io/v1 Event. Its messages use the core field names, as in the real API server. */
export function validateEventsV1(event: Event): FieldError[] {
  // The regarding object may be in another namespace.
  const errors = event.involvedObject?.namespace ? [] : validatePlace(event)
  if (!event.eventTime) errors.push(fieldError.required('eventTime'))
  if (event.type !== 'Normal' && event.type !== 'Warning')
    errors.push(fieldError.invalid('type', '', `has invalid value: ${event.type ?? ''}`))
  if (!event.eventTime) return errors
  errors.push(...validateReporter(event, 'reportingController'))
  if ((event.message ?? '').length > longestNote)
    errors.push(fieldError.invalid('message', '', `can have at most ${longestNote} characters`))
  for (const old of ['firstTimestamp', 'lastTimestamp', 'count'] as const)
    if (event[old]) errors.push(fieldError.invalid(old, '', 'needs to be unset'))
  if (event.source?.component || event.source?.host)
    errors.push(fieldError.invalid('source', '', 'needs to be unset'))
  return [...errors, ...validateSeries(event)]
}

const fixed = [
  'involvedObject',
  'reason',
  'message',
  'source',
  'firstTimestamp',
  'lastTimestamp',
  'count',
  'type',
  'eventTime',
  'action',
  'related',
] as const

/** All fields except the series are immutable. */
export function validateEventsV1Update(event: Event, before: Event): FieldError[] {
  return fixed.flatMap(field =>
    equalJson(event[field], before[field]) ? [] : [fieldError.immutable(field, event[field])],
  )
}

function validatePlace({ involvedObject, metadata }: Event): FieldError[] {
  const about = involvedObject?.namespace ?? ''
  const isThere = about === '' ? metadata?.namespace === 'default' : about === metadata?.namespace
  return isThere
    ? []
    : [fieldError.invalid('involvedObject.namespace', about, 'does not match event.namespace')]
}

function validateReporter(event: Event, component: string): FieldError[] {
  const { reportingComponent = '', reportingInstance = '', action = '', reason = '' } = event
  return [
    ...(reportingComponent === '' ? [fieldError.required(component)] : []),
    ...obeys(reportingComponent, qualifiedName, component),
    ...textOf(reportingInstance, 'reportingInstance'),
    ...textOf(action, 'action'),
    ...textOf(reason, 'reason'),
  ]
}

function textOf(value: string, field: string): FieldError[] {
  if (value === '') return [fieldError.required(field)]
  return value.length > longestName
    ? [fieldError.invalid(field, '', `can have at most ${longestName} characters`)]
    : []
}

function validateSeries({ series }: Event): FieldError[] {
  if (!series) return []
  return [
    ...((series.count ?? 0) < 2 ? [fieldError.invalid('series.count', '', 'should be at least 2')] : []),
    ...(series.lastObservedTime ? [] : [fieldError.required('series.lastObservedTime')]),
  ]
}
