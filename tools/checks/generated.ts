// SPDX-License-Identifier: Apache-2.0

// Generated files are equal to the current output of their generator.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { generators } from '../generate.ts'

export async function checkGenerated(root: string): Promise<string[]> {
  const problems: string[] = []
  for (const generator of generators) {
    for (const [path, wanted] of Object.entries(await generator.files())) {
      if (read(join(root, path)) !== wanted)
        problems.push(`${path} differs from the output of its generator; run: npm run generate`)
    }
  }
  return problems
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
