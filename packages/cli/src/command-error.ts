// SPDX-License-Identifier: Apache-2.0

/** An error that the user can fix. Printed as one message without a stack trace. */
export class CommandError extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode = 2) {
    super(message)
    this.exitCode = exitCode
  }
}
