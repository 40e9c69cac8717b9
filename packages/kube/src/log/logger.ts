// SPDX-License-Identifier: Apache-2.0

// Writes one line per record to standard error, as JSON or text. Promised: ISO 8601 times, errors with message and
// stack, child loggers with the fields of their parents. Not promised: that the last lines of a killed process were
// written. The logger does not redact secrets, so do not log them.
import { type Logger as Pino, pino } from 'pino'
import { LogLevels } from './levels.ts'
import { scopeFields } from './scope.ts'
import { textStream } from './text.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
export const logLevels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']
export type LogFormat = 'json' | 'text'

/** Fields of a line. An `Error` under `error` is written with its stack and its causes. */
export type LogFields = Readonly<Record<string, unknown>>

export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /**
   * Returns a logger that adds these fields to every line. The field `area` or `controller` names the area whose level
   * applies to the child.
   */
  child(fields: LogFields): Logger
}

/** A logger whose levels can be changed while the process runs. */
export interface RootLogger extends Logger {
  readonly levels: LogLevels
}

export interface LoggerOptions {
  readonly level?: LogLevel
  readonly format?: LogFormat
  /** Default: standard error. */
  readonly write?: (line: string) => void
}

export function createLogger(options: LoggerOptions = {}): RootLogger {
  const write = options.write ?? ((line: string) => process.stderr.write(line))
  const settings = {
    // The levels of the areas decide which lines are written.
    level: 'debug',
    base: null,
    mixin: scopeFields,
    messageKey: 'msg',
    timestamp: () => `,"ts":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { error: describeError },
  }
  const stream = options.format === 'text' ? textStream(write) : { write }
  return new PinoLogger(pino(settings, stream), new LogLevels(options.level ?? 'info'))
}

class PinoLogger implements RootLogger {
  readonly levels: LogLevels
  readonly #pino: Pino
  readonly #area: string | undefined

  constructor(instance: Pino, levels: LogLevels, area?: string) {
    this.#pino = instance
    this.levels = levels
    this.#area = area
  }

  debug(message: string, fields?: LogFields): void {
    this.#write('debug', message, fields)
  }

  info(message: string, fields?: LogFields): void {
    this.#write('info', message, fields)
  }

  warn(message: string, fields?: LogFields): void {
    this.#write('warn', message, fields)
  }

  error(message: string, fields?: LogFields): void {
    this.#write('error', message, fields)
  }

  child(fields: LogFields): Logger {
    const named = fields.area ?? fields.controller
    if (typeof named === 'string') this.levels.addArea(named)
    const area = typeof named === 'string' ? named : this.#area
    return new PinoLogger(this.#pino.child(fields), this.levels, area)
  }

  #write(level: LogLevel, message: string, fields: LogFields = {}): void {
    if (this.levels.isEnabled(this.#area, level)) this.#pino[level](fields, message)
  }
}

/** Converts an error to plain data; other values stay as they are. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { code } = error as { code?: unknown }
  return {
    message: error.message,
    ...(error.name === 'Error' ? {} : { name: error.name }),
    ...(typeof code === 'string' ? { code } : {}),
    ...(error.stack ? { stack: error.stack } : {}),
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  }
}

/** The default of parts without a logger. */
export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLogger,
}
