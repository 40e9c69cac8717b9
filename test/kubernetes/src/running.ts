// SPDX-License-Identifier: Apache-2.0

// Records the running control plane for later commands.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { clusterName } from './kubeconfig.ts'

export function rememberRunning(cache: string, kubeconfig: string): void {
  mkdirSync(cache, { recursive: true })
  writeFileSync(noteIn(cache), kubeconfig)
}

export function forgetRunning(cache: string, kubeconfig: string): void {
  if (readNote(cache) === kubeconfig) rmSync(noteIn(cache), { force: true })
}

/**
 * Returns the kubeconfig for kubectl commands. Uses KUBECONFIG only if this program wrote it: a command must never
 * reach another cluster.
 */
export function findRunning(cache: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  if (env.KUBECONFIG && isOurs(env.KUBECONFIG)) return env.KUBECONFIG
  const noted = readNote(cache)
  return noted !== undefined && existsSync(noted) ? noted : undefined
}

/** Throws if the file is the kubeconfig of another cluster. */
export function rejectForeign(file: string): void {
  if (existsSync(file) && !isOurs(file))
    throw new Error(`${file} exists and was not written by this program; name another file`)
}

export function copyKubeconfig(from: string, to: string): void {
  rejectForeign(to)
  writeFileSync(to, readFileSync(from), { mode: 0o600 })
}

function isOurs(file: string): boolean {
  try {
    const { clusters } = JSON.parse(readFileSync(file, 'utf8')) as { clusters?: { name?: string }[] }
    return clusters?.length === 1 && clusters[0]?.name === clusterName
  } catch {
    return false
  }
}

function noteIn(cache: string): string {
  return join(cache, 'running-kubeconfig')
}

function readNote(cache: string): string | undefined {
  try {
    return readFileSync(noteIn(cache), 'utf8').trim()
  } catch {
    return undefined
  }
}
