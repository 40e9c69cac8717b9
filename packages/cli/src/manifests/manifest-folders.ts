// SPDX-License-Identifier: Apache-2.0

import { readdirSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { CommandError } from '../command-error.ts'
import { type ManifestDocument, readManifests } from './manifest.ts'

const extensions = new Set(['.yaml', '.yml', '.json'])

/** Reads the documents of files, of the manifests in folders, or of standard input, in order. */
export function readManifestsOf(paths: readonly string[]): Promise<ManifestDocument[]> {
  return readManifests(paths.flatMap(filesOf))
}

function filesOf(path: string): string[] {
  if (path === '-' || !statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [path]
  const files = readdirSync(path)
    .filter(name => extensions.has(extname(name)))
    .sort()
    .map(name => join(path, name))
  if (files.length === 0)
    throw new CommandError(
      `the folder ${path} contains no file that ends in .yaml, .yml or .json; files in its subfolders are not read`,
    )
  return files
}
