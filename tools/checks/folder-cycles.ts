// SPDX-License-Identifier: Apache-2.0

// Folders of a package do not import each other in cycles. Folders are those directly below `src`; each file next to
// them counts as a folder of its own. Tests and test support may import everything.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { importedBy } from './imports.ts'

/** Packages without cycles. A package is added when it is free of them. */
const acyclicPackages: readonly string[] = [
  'packages/operator',
  'packages/waiter',
  'test/kubernetes',
  'test/scenarios',
]

const testSupport = /\.test\.ts$|\.fixture\.ts$|\/testing\//

/** By importing folder, then by imported folder: one import as an example. */
type Graph = ReadonlyMap<string, ReadonlyMap<string, string>>

export function checkFolderCycles(root: string, packages: readonly string[] = acyclicPackages): string[] {
  return packages.flatMap(home => {
    const graph = graphOf(root, `${home}/src`)
    const problems: string[] = []
    const reported = new Set<string>()
    for (const start of [...graph.keys()].sort()) {
      if (reported.has(start)) continue
      const cycle = shortestCycle(graph, start)
      if (!cycle) continue
      for (const folder of cycle) reported.add(folder)
      const examples = cycle.slice(1).map((to, index) => graph.get(cycle[index]!)!.get(to))
      problems.push(`${home}/src: folders import each other: ${cycle.join(' → ')} (${examples.join('; ')})`)
    }
    return problems
  })
}

function graphOf(root: string, src: string): Graph {
  const graph = new Map<string, Map<string, string>>()
  for (const file of globSync(`${src}/**/*.ts`, { cwd: root }).sort()) {
    if (testSupport.test(file)) continue
    const from = folderOf(src, file)
    for (const target of importedBy(readFileSync(join(root, file), 'utf8'))) {
      if (!target.startsWith('.')) continue
      const imported = join(dirname(file), target)
      const to = folderOf(src, imported)
      if (to === from || testSupport.test(imported)) continue
      const edges = graph.get(from) ?? new Map<string, string>()
      if (!edges.has(to)) edges.set(to, `${relative(src, file)} imports ${relative(src, imported)}`)
      graph.set(from, edges)
    }
  }
  return graph
}

function folderOf(src: string, file: string): string {
  return relative(src, file).split('/')[0]!
}

/** The folders of the shortest cycle through `start`, which is its first and its last. */
function shortestCycle(graph: Graph, start: string): string[] | undefined {
  const seen = new Set<string>()
  let paths = [[start]]
  while (paths.length > 0) {
    const longer: string[][] = []
    for (const path of paths)
      for (const next of graph.get(path.at(-1)!)?.keys() ?? []) {
        if (next === start) return [...path, next]
        if (seen.has(next)) continue
        seen.add(next)
        longer.push([...path, next])
      }
    paths = longer
  }
  return undefined
}
