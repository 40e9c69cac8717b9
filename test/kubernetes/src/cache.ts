// SPDX-License-Identifier: Apache-2.0

// The directory of the built binaries, outside of the work tree, and a lock that prevents concurrent builds of the same
// binary.
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive } from './pids.ts'

const staleAfterMs = 60_000

export function cacheDirectory(env: NodeJS.ProcessEnv = process.env): string {
  if (env.GROVE_TEST_CACHE) return env.GROVE_TEST_CACHE
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'grove-test-kubernetes')
}

/** Runs `work` while holding the lock file. Waits for another holder, and takes the lock over if the holder is dead. */
export async function withLock<T>(
  file: string,
  work: () => Promise<T>,
  onWait: (holder: number) => void = () => {},
): Promise<T> {
  let reported = false
  while (!tryLock(file)) {
    const holder = readHolder(file)
    if (holder === 'gone') continue
    if (isStale(file, holder)) {
      rmSync(file, { force: true })
      continue
    }
    if (!reported && holder !== undefined) onWait(holder)
    reported = true
    await sleep(200)
  }
  try {
    return await work()
  } finally {
    rmSync(file, { force: true })
  }
}

function tryLock(file: string): boolean {
  mkdirSync(join(file, '..'), { recursive: true })
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function readHolder(file: string): number | 'gone' | undefined {
  try {
    const pid = Number(readFileSync(file, 'utf8'))
    return Number.isInteger(pid) && pid > 0 ? pid : undefined
  } catch {
    return 'gone'
  }
}

// A lock without a pid was just created, or its writer died before it wrote the pid.
function isStale(file: string, holder: number | undefined): boolean {
  if (holder !== undefined) return !isAlive(holder)
  try {
    return Date.now() - statSync(file).mtimeMs > staleAfterMs
  } catch {
    return false
  }
}
