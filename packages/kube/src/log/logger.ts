// SPDX-License-Identifier: Apache-2.0

// Writes one line per record to standard error, as JSON or text. Promised: ISO 8601 times, errors with message and
// stack, child loggers with the fields of their parents. Not promised: that the last lines of a killed process were
// written. The logger does not redact secrets, so do not log them.
import { type Logger as Pino, pino } from 'pino'
import { textStream } from './text.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
export const logLevels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']
export type LogFormat = 'json' | 'text'
export const logFormats: readonly LogFormat[] = ['json', 'text']

/** Fields of a line. An `Error` under `error` is written with its stack and its causes. */
export type LogFields = Readonly<Record<string, unknown>>

export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** Returns a logger that adds these fields to every line: `controller`, `object`, … */
  child(fields: LogFields): Logger
}

export interface LoggerOptions {
  readonly level?: LogLevel
  readonly format?: LogFormat
  /** Default: standard error. */
  readonly write?: (line: string) => void
}

export function createLogger(options: LoggerOptions = {}): Logger {
  const write = options.write ?? ((line: string) => process.stderr.write(line))
  const settings = {
    level: options.level ?? 'info',
    base: null,
    messageKey: 'msg',
    timestamp: () => `,"ts":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { error: describeError },
  }
  return new PinoLogger(pino(settings, options.format === 'text' ? textStream(write) : { write }))
}

class PinoLogger implements Logger {
  readonly #pino: Pino

  constructor(instance: Pino) {
    this.#pino = instance
  }

  debug(message: string, fields?: LogFields): void {
    this.#pino.debug(fields ?? {}, message)
  }

  info(message: string, fields?: LogFields): void {
    this.#pino.info(fields ?? {}, message)
  }

  warn(message: string, fields?: LogFields): void {
    this.#pino.warn(fields ?? {}, message)
  }

  error(message: string, fields?: LogFields): void {
    this.#pino.error(fields ?? {}, message)
  }

  child(fields: LogFields): Logger {
    return new PinoLogger(this.#pino.child(fields))
  }
}

/** Converts an error to plain data; other values stay as they are. */
export function describeError(error: unknown): unknown {
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
