// SPDX-License-Identifier: Apache-2.0

import type { LogFields, Logger, LogLevel } from './logger.ts'
import { scopeFields } from './scope.ts'

export interface CapturedLine {
  readonly level: LogLevel
  readonly message: string
  readonly fields: LogFields
}

/** A logger for tests that keeps its lines as values and prints none. */
export function captureLog(): { readonly log: Logger; readonly lines: readonly CapturedLine[] } {
  const lines: CapturedLine[] = []
  const loggerWith = (inherited: LogFields): Logger => {
    const at = (level: LogLevel) => (message: string, fields?: LogFields) => {
      lines.push({ level, message, fields: { ...scopeFields(), ...inherited, ...fields } })
    }
    return {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      child: fields => loggerWith({ ...inherited, ...fields }),
    }
  }
  return { log: loggerWith({}), lines }
}
