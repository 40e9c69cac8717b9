// SPDX-License-Identifier: Apache-2.0

// Finds the Go compiler and rejects one that is too old, before it prints a page of compiler errors.
import { spawnSync } from 'node:child_process'
import { minimumGo } from './versions.ts'

const install = `Install Go ${minimumGo} or newer (https://go.dev/dl/, or your package manager's "golang") and put its bin directory on the PATH.`

export class GoError extends Error {
  override readonly name = 'GoError'
}

/** Throws a GoError with installation instructions unless the PATH has a new enough Go. */
export function requireGo(): void {
  // GOTOOLCHAIN=local: otherwise an old Go might download a newer one for this command.
  const asked = spawnSync('go', ['version'], {
    encoding: 'utf8',
    env: { ...process.env, GOTOOLCHAIN: 'local' },
  })
  if (asked.error) throw new GoError(`The program "go" was not found (${asked.error.message}). ${install}`)
  checkGoVersion(asked.stdout)
}

/** Parses the output of `go version`, for example `go version go1.26.8 linux/amd64`. */
export function checkGoVersion(printed: string): void {
  const found = /\bgo(\d+)\.(\d+)\S*/.exec(printed)
  if (!found) throw new GoError(`"go version" printed ${JSON.stringify(printed.trim())}. ${install}`)
  const [wantedMajor = 0, wantedMinor = 0] = minimumGo.split('.').map(Number)
  const major = Number(found[1])
  const minor = Number(found[2])
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return
  throw new GoError(`This is ${found[0]}, which is too old to build Kubernetes. ${install}`)
}
