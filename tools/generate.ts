// SPDX-License-Identifier: Apache-2.0

// `npm run generate` writes every generated file anew; CI checks that this changes nothing.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** Makes files from what is in the repository; needs nothing but Node. Paths are relative to the root. */
export interface Generator {
  readonly name: string
  files(): Promise<Record<string, string>> | Record<string, string>
}

export const generators: readonly Generator[] = []

if (import.meta.main) {
  const root = resolve(import.meta.dirname, '..')
  for (const generator of generators) {
    for (const [path, text] of Object.entries(await generator.files())) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
      console.log(path)
    }
  }
}
