// SPDX-License-Identifier: Apache-2.0

// Writes the kubeconfig of an embedded cluster.
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { messageOf, parseKubeconfig } from '@grove/kube'
import { CommandError } from '../../command-error.ts'

/** The name of cluster and context in the kubeconfigs of embedded clusters. */
const ourContext = 'grove'

/** Rejects a path that cannot be written, before anything starts. Never overwrites a kubeconfig with other clusters. */
export function requireWritable(path: string): void {
  const folder = dirname(resolve(path))
  if (!existsSync(folder)) throw new CommandError(`--kubeconfig ${path}: no such folder: ${folder}`)
  if (existsSync(path)) {
    if (statSync(path).isDirectory())
      throw new CommandError(`--kubeconfig ${path}: it is a folder; use a file in it`)
    if (!isOurs(path))
      throw new CommandError(
        `--kubeconfig ${path}: the file contains other clusters and would be overwritten; use another file`,
      )
  }
  try {
    accessSync(existsSync(path) ? path : folder, constants.W_OK)
  } catch {
    throw new CommandError(`--kubeconfig ${path}: it is not writable; use another file`)
  }
}

function isOurs(path: string): boolean {
  try {
    const { contexts } = parseKubeconfig(readFileSync(path, 'utf8'), path)
    return [...contexts.keys()].every(name => name === ourContext)
  } catch {
    return false
  }
}

/** Writes into the folder where other commands find it, and to the requested path. Returns the path to print. */
export function writeKubeconfig(text: string, folder: string, wanted: string | undefined): string {
  const found = join(folder, 'kubeconfig')
  for (const path of [found, wanted])
    try {
      if (path !== undefined) writePrivately(path, text)
    } catch (error) {
      throw new CommandError(`cannot write the kubeconfig: ${messageOf(error)}`)
    }
  return wanted ?? found
}

/** The kubeconfig contains an administrator key. An existing file may be readable by others, so restrict it first. */
function writePrivately(path: string, text: string): void {
  const file = openSync(path, 'w', 0o600)
  try {
    fchmodSync(file, 0o600)
    writeFileSync(file, text)
  } finally {
    closeSync(file)
  }
}
