// SPDX-License-Identifier: Apache-2.0

// Every package declares its imports. npm installs all packages into one folder, so that an undeclared import works
// here but fails where the package is installed alone.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { importedBy } from './imports.ts'

interface Manifest {
  readonly name?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

/** Files that are not shipped may use the tools of the whole repository. */
const notShipped = /^test\/|\.test\.ts$|\.fixture\.ts$|\/(bench|generate|testing)\//

export function checkDeclared(root: string): string[] {
  const problems: string[] = []
  const tools = Object.keys(manifestOf(root).devDependencies ?? {})
  for (const home of globSync('{packages,test}/*', { cwd: root })) {
    if (!existsSync(join(root, home, 'package.json'))) continue
    const { name = '', dependencies = {} } = manifestOf(join(root, home))
    for (const file of globSync(`${home}/**/*.ts`, { cwd: root, exclude: ['**/node_modules/**'] })) {
      const isShipped = !notShipped.test(file)
      for (const target of importedBy(readFileSync(join(root, file), 'utf8'))) {
        const imported = packageOf(target)
        if (imported === undefined || imported === name || Object.hasOwn(dependencies, imported)) continue
        if (!isShipped && (tools.includes(imported) || imported.startsWith('@grove/test-'))) continue
        problems.push(`${file}: imports ${imported}, which ${home}/package.json does not declare`)
      }
    }
  }
  return problems
}

/** Returns undefined for files and for modules of Node. */
function packageOf(target: string): string | undefined {
  return /^(?!node:)((?:@[\w-]+\/)?[\w][\w.-]*)(?:\/|$)/.exec(target)?.[1]
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}
