// SPDX-License-Identifier: Apache-2.0

/** A configuration that cannot be used as it is. The message names the file or variable and what to do about it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}
