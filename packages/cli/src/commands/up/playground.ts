// SPDX-License-Identifier: Apache-2.0

// The workloads of the playground, which `grove up --demo` knows by name.
import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { CommandError } from '../../command-error.ts'

const playground = resolve(import.meta.dirname, '../../../../../playground')

export const defaultWorkload = 'disaggregated'

export interface Workload {
  readonly path: string
  /** The operator configuration that it asks for. */
  readonly configuration?: string
}

/** What a word after `--demo` stands for: a workload of the playground, or any file. */
export function workloadNamed(word: string): Workload {
  const path = pathOf(word)
  if (/[./\\]/.test(word) || existsSync(word)) return { path: word }
  if (!existsSync(path))
    throw new CommandError(
      `--demo ${word}: neither a file nor a workload of the playground (${workloads().join(', ')})`,
    )
  const configuration = join(playground, word, 'config.yaml')
  return { path, ...(existsSync(configuration) && { configuration }) }
}

/** Folders that hold something else, such as topologies, have none. */
function pathOf(name: string): string {
  return join(playground, name, 'podcliqueset.yaml')
}

export function workloads(): string[] {
  if (!existsSync(playground)) return []
  return readdirSync(playground)
    .filter(name => existsSync(pathOf(name)))
    .sort()
}
