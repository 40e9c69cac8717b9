// SPDX-License-Identifier: Apache-2.0

import { resolve } from 'node:path'
import { checkDeclared } from './declared.ts'
import { checkGenerated } from './generated.ts'
import { checkFolderCycles, checkImports } from './imports.ts'
import { checkLinks } from './links.ts'
import { checkLockFile } from './lock-file.ts'

const root = resolve(import.meta.dirname, '../..')
const problems = [
  ...checkImports(root),
  ...checkFolderCycles(root),
  ...checkDeclared(root),
  ...checkLockFile(root),
  ...checkLinks(root),
  ...(await checkGenerated(root)),
]
for (const problem of problems) console.error(problem)
process.exit(problems.length ? 1 : 0)
