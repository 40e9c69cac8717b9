// SPDX-License-Identifier: Apache-2.0

import { type ClusterOptions, withCluster } from '../clusters/live-cluster.ts'
import { wholeNumber } from '../commands/options.ts'
import { escaped } from '../terminal/line.ts'
import { printJson, printLines } from '../terminal/print.ts'
import { printYaml } from '../terminal/print-objects.ts'
import { type Revision, readHistory, revisionNumbered, type SetHistory } from './revisions.ts'

export interface HistoryOptions extends ClusterOptions {
  readonly revision?: string
  readonly output: string
}

export async function history(name: string, options: HistoryOptions): Promise<void> {
  const found = await withCluster(options, cluster => readHistory(cluster, name))
  // As in kubectl, 0 lists all revisions.
  if (options.revision !== undefined && wholeNumber('--revision', options.revision) > 0) {
    const one = revisionNumbered(found, '--revision', options.revision)
    if (options.output === 'json') return printJson(one)
    printLines([`podcliqueset.grove.io/${name} with revision #${one.number}`])
    return printYaml(one.record)
  }
  if (options.output === 'json')
    return printJson(found.revisions.map(({ record: _, ...revision }) => revision))
  printLines(lines(name, found))
}

function lines(name: string, { revisions }: SetHistory): string[] {
  const rows = [['REVISION', 'HASH', 'CREATED', 'CHANGE-CAUSE'], ...revisions.map(cells)]
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map(row => row[column]!.length)))
  return [
    `podcliqueset.grove.io/${name}`,
    ...rows.map(row =>
      row
        .map((cell, column) => cell.padEnd(widths[column]! + 2))
        .join('')
        .trimEnd(),
    ),
  ]
}

function cells({ number, hash, created, cause, current }: Revision): string[] {
  return [`${number}${current ? ' *' : ''}`, hash, created ?? '<unknown>', cause ?? '<none>'].map(escaped)
}
