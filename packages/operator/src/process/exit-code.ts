// SPDX-License-Identifier: Apache-2.0

/** The exit codes of the process. Scripts and probes distinguish them. */
export const exitCode = {
  done: 0,
  arguments: 1,
  configuration: 2,
  topologySync: 3,
  setUp: 4,
  schedulerBackend: 5,
  running: 6,
  mnnvl: 7,
} as const

export type ExitCode = (typeof exitCode)[keyof typeof exitCode]

/** Ends the process with a code and one sentence on standard error. */
export class LaunchError extends Error {
  readonly exitCode: ExitCode

  constructor(code: ExitCode, message: string) {
    super(message)
    this.exitCode = code
  }
}
