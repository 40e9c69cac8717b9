// SPDX-License-Identifier: Apache-2.0

// Bundles the program into one JavaScript file: `node packages/waiter/src/bundle.ts <file>`. Node can run the
// TypeScript, but then needs half of its start time to strip the types. The bundler covers only this package: all
// names are unique, imports have no aliases except from Node, and there are no dependencies.
import { readFileSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'

const importPattern = /^import\s*(?:(\w+)|\{([^}]*)\})\s*from\s*'([^']+)'\s*;?$/gm

export function bundle(entry = 'main.ts'): string {
  const fromNode = new Map<string, Set<string>>()
  const seen = new Set<string>()
  const parts: string[] = []
  const add = (file: string): void => {
    if (seen.has(file)) return
    seen.add(file)
    const code = stripTypeScriptTypes(readFileSync(join(import.meta.dirname, file), 'utf8'))
    for (const [, whole, names = '', from = ''] of code.matchAll(importPattern)) {
      const specifiers = (whole ? `default as ${whole}` : names)
        .split(',')
        .map(name => name.trim())
        .filter(name => name !== '')
      if (from.startsWith('node:')) {
        const known = fromNode.get(from) ?? new Set()
        for (const specifier of specifiers) known.add(specifier)
        fromNode.set(from, known)
      } else if (!from.startsWith('./') || specifiers.some(specifier => specifier.includes(' as ')))
        throw new Error(`${file}: cannot bundle the import of ${specifiers} from ${from}`)
      else add(from.slice('./'.length))
    }
    parts.push(`// ${file}\n${withoutFraming(code)}`)
  }
  add(entry)
  const imports = [...fromNode].map(([from, names]) => `import { ${[...names].join(', ')} } from '${from}'`)
  return ['// SPDX-License-Identifier: Apache-2.0', imports.join('\n'), ...parts, ''].join('\n\n')
}

function withoutFraming(code: string): string {
  return code
    .replace(importPattern, '')
    .replace(/^\/\/ SPDX-.*$/gm, '')
    .replace(/^export (?=(?:async |const|class|function|let))/gm, '')
    .replace(/[ \t]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

if (import.meta.main) {
  const file = process.argv[2]
  if (!file) throw new Error('the name of the file to write is missing')
  writeFileSync(file, bundle())
}
