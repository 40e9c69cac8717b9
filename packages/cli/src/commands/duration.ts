// SPDX-License-Identifier: Apache-2.0

import { parseDuration } from '@grove/apimachinery/duration'
import { CommandError } from '../command-error.ts'

/** Parses a number of seconds, or a duration as in kubectl: `90s`, `5m`, `1h30m`. Returns milliseconds. */
export function milliseconds(option: string, text: string): number {
  const duration = parseDuration(/^\d{1,9}$/.test(text) ? `${text}s` : text)
  if (!duration.ok || duration.nanoseconds < 0n)
    throw new CommandError(
      `${option} must be a number of seconds or a duration such as 5m, not ${JSON.stringify(text)}`,
    )
  return Number(duration.nanoseconds / 1_000_000n)
}
