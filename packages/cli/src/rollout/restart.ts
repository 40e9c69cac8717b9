// SPDX-License-Identifier: Apache-2.0

import { type ClusterOptions, withCluster } from '../clusters/live-cluster.ts'
import { CommandError } from '../command-error.ts'
import { dryRunNote } from '../objects/apply.ts'
import { printLines } from '../terminal/print.ts'
import { type EditOptions, patchSpec, readForEdit, retryConflicts } from './edit-set.ts'

/**
 * The annotation of `kubectl rollout restart`. It is part of the pod templates, so that a new value replaces all
 * pods.
 */
const restartedAt = 'kubectl.kubernetes.io/restartedAt'

/** Replaces all pods of a set with the update strategy of the set, without a change of their template. */
export async function restart(name: string, options: ClusterOptions & EditOptions): Promise<void> {
  await withCluster(options, cluster =>
    retryConflicts(async () => {
      const set = await readForEdit(cluster, name)
      const { template, updateStrategy } = set.spec
      if (updateStrategy?.paused)
        throw new CommandError(
          `cannot restart ${name} while its updates are paused; run \`grove rollout resume ${name}\` first`,
          1,
        )
      const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z')
      const cliques = template.cliques.map(clique => ({
        ...clique,
        annotations: { ...clique.annotations, [restartedAt]: now },
      }))
      if (options.dryRun !== 'client') await patchSpec(cluster, set, { template: { cliques } }, options)
    }),
  )
  printLines([`podcliqueset.grove.io/${name} restarted${dryRunNote(options.dryRun)}`])
}
