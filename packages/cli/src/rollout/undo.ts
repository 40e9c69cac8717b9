// SPDX-License-Identifier: Apache-2.0

import { impact, restoreRecord } from '@grove/api'
import { type ClusterOptions, type LiveCluster, withCluster } from '../clusters/live-cluster.ts'
import { CommandError } from '../command-error.ts'
import { impactLines } from '../commands/impact.ts'
import { dryRunNote } from '../objects/apply.ts'
import { printJson, printLines } from '../terminal/print.ts'
import { patchSpec, retryConflicts } from './edit-set.ts'
import { readHistory, revisionNumbered } from './revisions.ts'

export interface UndoOptions extends ClusterOptions {
  readonly toRevision?: string
  readonly dryRun: string
  readonly output: string
}

export async function undo(name: string, options: UndoOptions): Promise<void> {
  const outcome = await withCluster(options, cluster => retryConflicts(() => restore(cluster, name, options)))
  if (options.output === 'json') return printJson(outcome)
  const { revision, restarts, cliques, other } = outcome
  const changes = impactLines({ name: `revision ${revision}`, ...outcome })
  const said = restarts || cliques.some(({ outcome: what }) => what !== 'unchanged') || other.length > 0
  printLines([
    said
      ? `podcliqueset.grove.io/${name} rolled back to revision ${revision}${dryRunNote(options.dryRun)}`
      : `podcliqueset.grove.io/${name} skipped rollback (its template already matches revision ${revision})`,
    ...(said && options.dryRun !== 'none' ? changes : []),
  ])
}

async function restore(cluster: LiveCluster, name: string, options: UndoOptions) {
  const found = await readHistory(cluster, name)
  const { set } = found
  const { number, record } = revisionNumbered(found, '--to-revision', options.toRevision)
  const restored = restoreRecord(set.spec.template, record)
  if ('mismatch' in restored)
    throw new CommandError(
      `revision ${number} has other cliques (${restored.mismatch.join(', ')}), which an update cannot restore`,
      1,
    )
  const { template } = restored
  const outcome = { revision: number, ...impact(set, { ...set, spec: { ...set.spec, template } }) }
  if (!outcome.startsUpdate || options.dryRun === 'client') return outcome
  const { cliques, priorityClassName = null } = template
  await patchSpec(cluster, set, { template: { cliques, priorityClassName } }, options)
  return outcome
}
