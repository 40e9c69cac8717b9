// SPDX-License-Identifier: Apache-2.0

import { type FieldError, fieldError, formatDuration, parseDuration } from '@grove/apimachinery'
import type { PodCliqueSet } from '../../types/index.ts'
import { path } from './paths.ts'

export function validateTerminationDelay(set: PodCliqueSet): FieldError[] {
  const field = `${path.template}.terminationDelay`
  const text = set.spec.template.terminationDelay
  if (text === undefined) return [fieldError.required(field, 'terminationDelay is required')]
  const delay = parseDuration(text)
  if (!delay.ok) return [fieldError.invalid(field, text, delay.error)]
  if (delay.nanoseconds > 0n) return []
  return [
    fieldError.invalid(field, formatDuration(delay.nanoseconds), 'terminationDelay must be greater than 0'),
  ]
}
