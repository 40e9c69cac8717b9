// SPDX-License-Identifier: Apache-2.0

export { type CapturedLine, captureLog } from './capture.ts'
export {
  createLogger,
  type LogFields,
  type LogFormat,
  type Logger,
  type LoggerOptions,
  type LogLevel,
  logFormats,
  logLevels,
  messageOf,
  silentLogger,
} from './logger.ts'
