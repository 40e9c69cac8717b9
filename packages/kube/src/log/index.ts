// SPDX-License-Identifier: Apache-2.0

export { type CapturedLine, captureLog } from './capture.ts'
export { LogLevels } from './levels.ts'
export {
  createLogger,
  type LogFields,
  type LogFormat,
  type Logger,
  type LoggerOptions,
  type LogLevel,
  logLevels,
  type RootLogger,
  silentLogger,
} from './logger.ts'
export { messageOf } from './message.ts'
export { withLogFields } from './scope.ts'
