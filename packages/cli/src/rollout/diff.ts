// SPDX-License-Identifier: Apache-2.0

import { impact, revisionRecord } from '@grove/api'
import { type ClusterOptions, withCluster } from '../clusters/live-cluster.ts'
import { impactLines } from '../commands/impact.ts'
import { printJson, printLines } from '../terminal/print.ts'
import { readHistory, revisionNumbered } from './revisions.ts'

export interface DiffOptions extends ClusterOptions {
  readonly revision?: string
  readonly toRevision?: string
  readonly output: string
}

/** The exit code is 1 if the change restarts pods. */
export async function diff(name: string, options: DiffOptions): Promise<number> {
  const found = await withCluster(options, cluster => readHistory(cluster, name))
  const from = revisionNumbered(found, '--revision', options.revision)
  const to =
    options.toRevision === undefined
      ? { title: `current ${name}`, record: revisionRecord(found.set.spec) }
      : titled(revisionNumbered(found, '--to-revision', options.toRevision))
  const difference = {
    name: `revision ${from.number} → ${to.title}`,
    ...impact({ spec: from.record }, { spec: to.record }),
  }
  if (options.output === 'json') printJson(difference)
  else printLines(impactLines(difference))
  return difference.restarts ? 1 : 0
}

function titled<R extends { readonly number: number }>(revision: R): R & { readonly title: string } {
  return { ...revision, title: `revision ${revision.number}` }
}
