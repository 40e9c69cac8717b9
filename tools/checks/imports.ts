// SPDX-License-Identifier: Apache-2.0

// Imports between packages have one direction, and only use the index of a package. Production code does not import
// test support, which is in folders called `testing`.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The packages that each package may import. Tests may also import tools/ and the packages under test/. */
const allowed: Record<string, readonly string[]> = {
  'packages/apimachinery': [],
  'packages/api': ['@grove/apimachinery'],
  'packages/kube': [],
  'packages/waiter': [],
  'packages/installer': ['@grove/api', '@grove/kube'],
  'packages/operator': ['@grove/api', '@grove/kube', '@grove/apimachinery', '@grove/scheduler'],
  'packages/scheduler': ['@grove/api', '@grove/kube', '@grove/apimachinery'],
  'packages/cluster': ['@grove/kube', '@grove/apimachinery'],
  'packages/inspect': ['@grove/api'],
  'packages/dashboard': [
    '@grove/api',
    '@grove/apimachinery',
    '@grove/inspect',
    '@grove/kube',
    '@grove/scheduler',
  ],
  'packages/cli': [
    '@grove/api',
    '@grove/apimachinery',
    '@grove/kube',
    '@grove/operator',
    '@grove/scheduler',
    '@grove/cluster',
    '@grove/dashboard',
    '@grove/inspect',
    '@grove/installer',
    '@grove/waiter',
  ],
}

/** Additional entries, for programs that must load as little as possible. */
const furtherEntries: ReadonlySet<string> = new Set([
  '@grove/api/constants',
  '@grove/api/crds',
  '@grove/apimachinery/age',
  '@grove/apimachinery/duration',
  '@grove/apimachinery/quantity',
  '@grove/cluster/nodes',
  '@grove/cluster/pod-errors',
  '@grove/kube/admission',
  '@grove/kube/auth',
  '@grove/kube/cache',
  '@grove/kube/client',
  '@grove/kube/clock',
  '@grove/operator/history',
  '@grove/operator/resources',
  '@grove/scheduler/core',
])

/** Tests, test support and benchmarks. */
const isTestCode = /\.(test|fixture)\.ts$|\/(testing|bench)\//

const importPattern =
  /(?:^|\s)(?:import|export)\s[^'"]*?from\s*'([^']+)'|import\(\s*'([^']+)'\s*\)|^import\s+'([^']+)'/gm

/** Returns the import specifiers of a source text. */
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
    const isTest = isTestCode.test(file)
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
        if (!resolved.startsWith(`${home}/`) && !(isTest && resolved.startsWith('tools/')))
          problems.push(`${file}: ${target} leaves the package ${home}`)
        if (isTestCode.test(resolved) && !isTest)
          problems.push(`${file}: imports ${target}, which is test support; production code must not use it`)
      }
    }
  }
  return problems
}
