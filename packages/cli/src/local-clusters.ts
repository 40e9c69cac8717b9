// SPDX-License-Identifier: Apache-2.0

// Where a running `grove up` leaves its kubeconfig, so that other commands find the cluster without being told.
import { existsSync, lstatSync, mkdirSync, readdirSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { CommandError } from './command-error.ts'

/** A folder per user, in it one per process: nobody else may read the key of a cluster's administrator. */
function home(): string {
  return join(tmpdir(), `grove-${userInfo().username.replace(/[^\w.-]/g, '_')}`)
}

/** The folder of this process, empty; what processes left behind that were killed is cleared away. */
export function claimRunFolder(): string {
  const root = home()
  mkdirSync(root, { recursive: true, mode: 0o700 })
  if (!isOurs(root))
    throw new CommandError(
      `${root} belongs to somebody else; remove it, or set TMPDIR to a folder of your own`,
    )
  for (const name of readdirSync(root)) if (!isAlive(name)) rmSync(join(root, name), { recursive: true })
  const folder = join(root, String(process.pid))
  mkdirSync(folder, { mode: 0o700 })
  return folder
}

export function releaseRunFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  try {
    rmdirSync(home())
  } catch {
    // Another cluster of this user lives in it.
  }
}

/** The kubeconfigs of the clusters that run now, the youngest first. */
export function localKubeconfigs(): string[] {
  const root = home()
  if (!existsSync(root) || !isOurs(root)) return []
  return readdirSync(root)
    .filter(isAlive)
    .map(name => join(root, name, 'kubeconfig'))
    .filter(path => existsSync(path))
    .map(path => ({ path, since: statSync(path).mtimeMs }))
    .sort((a, b) => b.since - a.since)
    .map(({ path }) => path)
}

function isOurs(folder: string): boolean {
  const { uid } = lstatSync(folder)
  return process.getuid === undefined || uid === process.getuid()
}

function isAlive(name: string): boolean {
  const pid = Number(name)
  if (!Number.isSafeInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
