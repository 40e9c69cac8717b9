// SPDX-License-Identifier: Apache-2.0

import { cliApiVersion, isConverged, statusDocument } from '@grove/inspect'
import { type ClusterOptions, withCluster } from '../clusters/live-cluster.ts'
import { readAllSets } from '../clusters/set-objects.ts'
import { CommandError } from '../command-error.ts'
import { printJson, printLines, printNote } from '../terminal/print.ts'
import { columnsOf, terminal } from '../terminal/terminal.ts'
import { wrappedNotes } from '../terminal/wrap.ts'
import { overviewPicture } from '../tree/overview.ts'
import { showSet } from '../tree/show-set.ts'
import { statusPicture } from '../tree/status-text.ts'

export interface StatusOptions extends ClusterOptions {
  readonly allNamespaces?: boolean
  readonly watch?: boolean
  readonly output: string
}

/**
 * Prints the status of a set and why it is not available. The exit code is 1 until the set is available and updated.
 */
export async function status(name: string | undefined, options: StatusOptions): Promise<number> {
  if (options.allNamespaces) return overview(name, options)
  const objects = await showSet(name, options, { picture: statusPicture, document: statusDocument })
  return objects && isConverged(objects) ? 0 : 1
}

/** One line for each set of the cluster, and the first cause of each set that is not available and updated. */
async function overview(name: string | undefined, options: StatusOptions): Promise<number> {
  if (name !== undefined) throw new CommandError('a name cannot be combined with --all-namespaces')
  if (options.watch) throw new CommandError('--watch requires one PodCliqueSet, not --all-namespaces')
  const sets = await withCluster(options, readAllSets)
  const documents = sets.map(statusDocument)
  if (options.output === 'json')
    printJson({ apiVersion: cliApiVersion, kind: 'StatusList', items: documents })
  else if (documents.length === 0) printNote('No resources found')
  else {
    const { lines, notes } = overviewPicture(documents, Date.now())
    printLines([...lines, ...wrappedNotes(notes, columnsOf(terminal()))])
  }
  return sets.every(isConverged) ? 0 : 1
}
