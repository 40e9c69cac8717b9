// SPDX-License-Identifier: Apache-2.0

// Imports between packages point one way, and only through a package's index.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What each package may import of the others. Tests may also import the packages under test/. */
const allowed: Record<string, readonly string[]> = {
  'packages/apimachinery': [],
  'packages/api': ['@grove/apimachinery'],
  'packages/kube': [],
  'packages/waiter': [],
  'packages/operator': ['@grove/api', '@grove/kube', '@grove/apimachinery'],
  'packages/scheduler': ['@grove/api', '@grove/kube', '@grove/apimachinery'],
  'packages/cluster': ['@grove/kube', '@grove/apimachinery'],
  'packages/cli': [
    '@grove/api',
    '@grove/apimachinery',
    '@grove/kube',
    '@grove/operator',
    '@grove/scheduler',
    '@grove/cluster',
    '@grove/waiter',
  ],
}

/** Entries beside the index: for programs that must load as little as possible. */
const furtherEntries: ReadonlySet<string> = new Set(['@grove/kube/admission'])

const importPattern =
  /(?:^|\s)(?:import|export)\s[^'"]*?from\s*'([^']+)'|import\(\s*'([^']+)'\s*\)|^import\s+'([^']+)'/gm

/** What a source text imports, as it is written there. */
export function importedBy(source: string): string[] {
  return [...source.matchAll(importPattern)].map(([, from, dynamic, bare]) => from ?? dynamic ?? bare ?? '')
}

export function checkImports(root: string): string[] {
  const problems: string[] = []
  for (const file of globSync('packages/*/{src,generate,bench}/**/*.ts', { cwd: root })) {
    const home = file.split('/').slice(0, 2).join('/')
    const rules = allowed[home]
    if (!rules) {
      problems.push(`${file}: the package ${home} is not listed in tools/checks/imports.ts`)
      continue
    }
    const isTest = file.endsWith('.test.ts') || file.includes('/bench/')
    for (const target of importedBy(readFileSync(join(root, file), 'utf8'))) {
      if (target.startsWith('@grove/')) {
        const self = target === `@grove/${home.split('/')[1]}`
        const named = target.split('/').slice(0, 2).join('/')
        if (target !== named && !furtherEntries.has(target))
          problems.push(`${file}: imports ${target}; only the index of a package may be imported`)
        else if (self) problems.push(`${file}: imports its own package by name; use a relative path`)
        else if (!rules.includes(named) && !(isTest && named.startsWith('@grove/test-')))
          problems.push(`${file}: ${home} must not import ${named}`)
      } else if (target.startsWith('.')) {
        const resolved = join(file, '..', target)
        if (!resolved.startsWith(`${home}/`)) problems.push(`${file}: ${target} leaves the package ${home}`)
      }
    }
  }
  return problems
}
