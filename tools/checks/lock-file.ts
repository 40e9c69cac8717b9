// SPDX-License-Identifier: Apache-2.0

// The lock file has a checksum for everything that npm installs. No package runs a program during the installation,
// because the lock file does not cover what such a program downloads.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

interface LockFile {
  readonly packages: Readonly<
    Record<
      string,
      { readonly link?: boolean; readonly integrity?: string; readonly hasInstallScript?: boolean }
    >
  >
}

export function checkLockFile(root: string): string[] {
  const problems: string[] = []
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as LockFile
  for (const [path, { link, integrity, hasInstallScript }] of Object.entries(packages)) {
    if (link || !path.includes('node_modules/')) continue
    if (!integrity?.startsWith('sha512-')) problems.push(`package-lock.json: ${path} has no sha512 checksum`)
    if (hasInstallScript) problems.push(`package-lock.json: ${path} has an install script`)
  }
  if (!/^ignore-scripts=true$/m.test(readFileSync(join(root, '.npmrc'), 'utf8')))
    problems.push('.npmrc: ignore-scripts=true is missing')
  return problems
}
