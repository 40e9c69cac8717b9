// SPDX-License-Identifier: Apache-2.0

// The workloads of the playground, which `grove up --demo` finds by name.
import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { CommandError } from '../../command-error.ts'

const playground = resolve(import.meta.dirname, '../../../../../playground')

export const defaultWorkload = 'disaggregated'

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
  const configuration = join(playground, arg, 'config.yaml')
  return { path, ...(existsSync(configuration) && { configuration }) }
}

/** Folders with other content, such as topologies, have no such file. */
function pathOf(name: string): string {
  return join(playground, name, 'podcliqueset.yaml')
}

export function workloads(): string[] {
  if (!existsSync(playground)) return []
  return readdirSync(playground)
    .filter(name => existsSync(pathOf(name)))
    .sort()
}
