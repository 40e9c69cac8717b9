// SPDX-License-Identifier: Apache-2.0

// The folders in which a running `grove up` stores its kubeconfig, so that other commands find the cluster.
import { existsSync, lstatSync, mkdirSync, readdirSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { CommandError } from '../command-error.ts'

/** A folder per user with one folder per process. Other users must not read the administrator key of a cluster. */
function home(): string {
  return join(tmpdir(), `grove-${userInfo().username.replace(/[^\w.-]/g, '_')}`)
}

/** Creates an empty folder for this process, and removes folders of processes that were killed. */
export function claimRunFolder(): string {
  const root = home()
  mkdirSync(root, { recursive: true, mode: 0o700 })
  if (!isOurs(root))
    throw new CommandError(
      `${root} belongs to another user; remove it, or set TMPDIR to a folder of your own`,
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
    // Another cluster of this user uses it.
  }
}

/** The kubeconfigs of the running clusters, the newest first. */
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
