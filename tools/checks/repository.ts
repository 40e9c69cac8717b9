// SPDX-License-Identifier: Apache-2.0

import { resolve } from 'node:path'
import { checkDeclared } from './declared.ts'
import { checkDocumentation } from './documentation.ts'
import { checkFolderCycles } from './folder-cycles.ts'
import { checkGenerated } from './generated.ts'
import { checkHeaderComments } from './header-comments.ts'
import { checkImports } from './imports.ts'
import { checkLanguage } from './language.ts'
import { checkLinks } from './links.ts'
import { checkLockFile } from './lock-file.ts'
import { checkTimings } from './timings.ts'

const root = resolve(import.meta.dirname, '../..')
const problems = [
  ...checkImports(root),
  ...checkFolderCycles(root),
  ...checkDeclared(root),
  ...checkLockFile(root),
  ...checkTimings(root),
  ...checkHeaderComments(root),
  ...checkLinks(root),
  ...checkDocumentation(root),
  ...checkLanguage(root),
  ...(await checkGenerated(root)),
]
for (const problem of problems) console.error(problem)
process.exit(problems.length ? 1 : 0)
