// SPDX-License-Identifier: Apache-2.0

// Where the way into the cluster is written down.
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
import { parseKubeconfig } from '@grove/kube'
import { CommandError } from '../../command-error.ts'

/** The name of cluster and context in the kubeconfigs of embedded clusters. */
const ourContext = 'grove'

/** Refuses early what could not be written, and never writes over a kubeconfig that is somebody's own. */
export function requireWritable(path: string): void {
  const folder = dirname(resolve(path))
  if (!existsSync(folder)) throw new CommandError(`--kubeconfig ${path}: there is no folder ${folder}`)
  if (existsSync(path)) {
    if (statSync(path).isDirectory())
      throw new CommandError(`--kubeconfig ${path}: it is a folder; name a file in it`)
    if (!isOurs(path))
      throw new CommandError(
        `--kubeconfig ${path}: the file holds other clusters and would be overwritten; name another`,
      )
  }
  try {
    accessSync(existsSync(path) ? path : folder, constants.W_OK)
  } catch {
    throw new CommandError(`--kubeconfig ${path}: it may not be written; name another file`)
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

/** Into the folder where other commands find it, and where the user wants it. Returns the path to tell. */
export function writeKubeconfig(text: string, folder: string, wanted: string | undefined): string {
  const found = join(folder, 'kubeconfig')
  for (const path of [found, wanted])
    try {
      if (path !== undefined) writePrivately(path, text)
    } catch (error) {
      throw new CommandError(`cannot write the kubeconfig: ${error instanceof Error ? error.message : error}`)
    }
  return wanted ?? found
}

/** The kubeconfig holds the key of an administrator. A file that exists may be readable by others: that ends first. */
function writePrivately(path: string, text: string): void {
  const file = openSync(path, 'w', 0o600)
  try {
    fchmodSync(file, 0o600)
    writeFileSync(file, text)
  } finally {
    closeSync(file)
  }
}
