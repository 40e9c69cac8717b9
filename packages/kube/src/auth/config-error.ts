// SPDX-License-Identifier: Apache-2.0

/** The configuration cannot be used. The message names the file or variable and the remedy. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}
