// SPDX-License-Identifier: Apache-2.0

// One line per happening, on standard error, as JSON or as text for eyes. Promises: the time as ISO 8601, errors with
// message and stack, children that carry the fields of their parents. Does not promise that the lines of a process
// that is killed have left it, nor that fields are free of secrets: say less.
import { type Logger as Pino, pino } from 'pino'
import { textStream } from './text.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
export const logLevels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']
export type LogFormat = 'json' | 'text'
export const logFormats: readonly LogFormat[] = ['json', 'text']

/** What a line says beside its message. An `Error` under `error` is written with its stack and its causes. */
export type LogFields = Readonly<Record<string, unknown>>

export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** A logger that adds these fields to every line: `controller`, `object`, … */
  child(fields: LogFields): Logger
}

export interface LoggerOptions {
  readonly level?: LogLevel
  readonly format?: LogFormat
  /** Where lines go: standard error unless told otherwise. */
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

/** An error as plain data; what is not an error is written as it is. */
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

/** For parts that were given no logger. */
export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLogger,
}
