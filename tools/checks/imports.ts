// SPDX-License-Identifier: Apache-2.0

// Imports between packages point one way, and only through a package's index.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** What each package may import of the others. Tests may also import the packages under test/. */
const allowed: Record<string, readonly string[]> = {
  'packages/apimachinery': [],
  'packages/api': ['@grove/apimachinery'],
  'packages/kube': [],
  'packages/waiter': [],
  'packages/operator': ['@grove/api', '@grove/kube', '@grove/apimachinery'],
  'packages/scheduler': ['@grove/api', '@grove/kube'],
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

/** Packages whose folders must not import each other in circles. */
const layered = ['packages/operator'] as const

export function checkFolderCycles(root: string): string[] {
  return layered.flatMap(home => {
    const src = join(root, home, 'src')
    const files = globSync('**/*.ts', { cwd: src }).filter(isProduction)
    const sources = new Map(files.map(file => [file, readFileSync(join(src, file), 'utf8')]))
    return folderCycles(sources).map(cycle => `${home}/src: folders import each other in a circle: ${cycle}`)
  })
}

function isProduction(file: string): boolean {
  return !file.endsWith('.test.ts') && !file.endsWith('.fixture.ts') && !file.split('/').includes('testing')
}

/**
 * Circles between the folders of one source tree, each as `a → b → a` with the files that import. Type imports count: they
 * bind the reader as well. A file at the root of the tree counts as a folder of its own.
 */
export function folderCycles(sources: ReadonlyMap<string, string>): string[] {
  const graph = new Map<string, Map<string, string>>()
  for (const [file, source] of sources) {
    const from = folderOf(file)
    const edges = graph.get(from) ?? new Map<string, string>()
    graph.set(from, edges)
    for (const target of importedBy(source).filter(one => one.startsWith('.'))) {
      const imported = join(dirname(file), target)
      const to = folderOf(imported)
      if (to !== from && !edges.has(to)) edges.set(to, `${file} imports ${imported}`)
    }
  }
  const seen = new Set<string>()
  const cycles: string[] = []
  for (const start of [...graph.keys()].sort()) {
    const path = shortestCycle(graph, start)
    const id = path && [...path].sort().join()
    if (!path || !id || seen.has(id)) continue
    seen.add(id)
    const steps = path.map((folder, at) => graph.get(folder)?.get(path[at + 1] ?? start))
    cycles.push(`${[...path, start].join(' → ')} (${steps.join('; ')})`)
  }
  return cycles
}

function folderOf(file: string): string {
  return file.split('/')[0] ?? ''
}

/** The folders of the shortest circle through `start`, beginning with it. */
function shortestCycle(graph: ReadonlyMap<string, ReadonlyMap<string, string>>, start: string) {
  const queue: string[][] = [[start]]
  const visited = new Set<string>()
  for (let path = queue.shift(); path; path = queue.shift())
    for (const next of graph.get(path.at(-1) ?? '')?.keys() ?? []) {
      if (next === start) return path
      if (visited.has(next)) continue
      visited.add(next)
      queue.push([...path, next])
    }
  return undefined
}
