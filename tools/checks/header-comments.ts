// SPDX-License-Identifier: Apache-2.0

// The comment that describes a file is above its imports. The formatter sorts imports together with the comment directly
// above them, so an import that is added later can move the comment down.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const sources = ['bench', 'packages', 'playground', 'test', 'tools'].map(folder => `${folder}/**/*.ts`)

const statement = /^import\b[^']*'[^']+'(?: with \{[^}]*\})?$/gm

export function checkHeaderComments(root: string): string[] {
  return globSync(sources, { cwd: root, exclude: path => path.includes('node_modules') })
    .sort()
    .flatMap(file => problemOf(file, readFileSync(join(root, file), 'utf8')))
}

function problemOf(file: string, source: string): string[] {
  const imports = [...source.matchAll(statement)]
  const [first, last] = [imports[0], imports.at(-1)]
  if (!first || !last) return []
  const between = source.slice(first.index, last.index)
  const [comment] = /^\/\/ (?!biome-ignore).*/m.exec(between) ?? []
  return comment ? [`${file}: the comment "${comment}" is between imports; move it above them`] : []
}
