// SPDX-License-Identifier: Apache-2.0

/** Something the user can put right: printed as one sentence, without a stack. */
export class CommandError extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode = 2) {
    super(message)
    this.exitCode = exitCode
  }
}
