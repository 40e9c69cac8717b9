// SPDX-License-Identifier: Apache-2.0

// The workloads of the playground, which `grove up --demo` finds by name.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { getAsset, getAssetKeys, isSea } from 'node:sea'
import about from '../../../package.json' with { type: 'json' }
import { CommandError } from '../../command-error.ts'

export const defaultWorkload = 'disaggregated'

let found: string | undefined

export interface Workload {
  readonly path: string
  /** The operator configuration that the workload requires. */
  readonly configuration?: string
}

/** Resolves the argument of `--demo`: a workload of the playground, or any file. */
export function workloadNamed(arg: string): Workload {
  const path = pathOf(arg)
  if (/[./\\]/.test(arg) || existsSync(arg)) return { path: arg }
  if (!existsSync(path))
    throw new CommandError(
      `--demo ${arg}: neither a file nor a workload of the playground (${workloads().join(', ')})`,
    )
  const configuration = join(playground(), arg, 'config.yaml')
  return { path, ...(existsSync(configuration) && { configuration }) }
}

/** Folders with other content, such as topologies, have no such file. */
function pathOf(name: string): string {
  return join(playground(), name, 'podcliqueset.yaml')
}

/** Writes nothing, because every start of the command calls it for a help text. */
export function workloads(): string[] {
  const names = isSea()
    ? playgroundAssets().flatMap(key => /^playground\/([^/]+)\/podcliqueset\.yaml$/.exec(key)?.[1] ?? [])
    : readdirSync(playground()).filter(name => existsSync(pathOf(name)))
  return names.sort()
}

/** Slashes separate the names also on Windows. */
function playgroundAssets(): string[] {
  return getAssetKeys().filter(key => key.startsWith('playground/'))
}

function playground(): string {
  found ??= isSea() ? unpackPlayground() : findPlayground(import.meta.dirname)
  return found
}

/** A folder above this module: at different depths in the repository and in the npm package. */
function findPlayground(folder: string): string {
  const candidate = join(folder, 'playground')
  const parent = dirname(folder)
  return existsSync(join(candidate, defaultWorkload)) || parent === folder
    ? candidate
    : findPlayground(parent)
}

/** Writes the files that the single executable contains to the cache of the user, because commands name their paths. */
function unpackPlayground(): string {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  const folder = join(cache, 'grove', about.version)
  for (const key of playgroundAssets()) {
    const path = join(folder, key)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, getAsset(key, 'utf8'))
  }
  return join(folder, 'playground')
}
