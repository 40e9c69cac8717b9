// SPDX-License-Identifier: Apache-2.0

import { type ClusterOptions, withCluster } from '../clusters/live-cluster.ts'
import { CommandError } from '../command-error.ts'
import { dryRunNote } from '../objects/apply.ts'
import { printLines } from '../terminal/print.ts'
import { type EditOptions, patchSpec, readForEdit, retryConflicts } from './edit-set.ts'

/** Sets or removes `spec.updateStrategy.paused`. */
export async function setPaused(
  name: string,
  paused: boolean,
  options: ClusterOptions & EditOptions,
): Promise<void> {
  await withCluster(options, cluster =>
    retryConflicts(async () => {
      const set = await readForEdit(cluster, name)
      const strategy = set.spec.updateStrategy
      if ((strategy?.paused ?? false) === paused)
        throw new CommandError(`podcliqueset "${name}" is ${paused ? 'already paused' : 'not paused'}`, 1)
      if (paused && strategy?.type === 'OnDelete')
        throw new CommandError(
          `podcliqueset "${name}" has the update strategy OnDelete: only deleted pods get the new template, so that there is nothing to pause`,
          1,
        )
      if (options.dryRun === 'client') return
      const after = await patchSpec(cluster, set, { updateStrategy: { paused: paused || null } }, options)
      // The CRDs of other operators have no such field, and the API server drops it.
      if ((after.spec.updateStrategy?.paused ?? false) !== paused)
        throw new CommandError(
          'the PodCliqueSet CRD of this cluster has no field spec.updateStrategy.paused; `grove crds` prints one that has it',
          1,
        )
    }),
  )
  printLines([`podcliqueset.grove.io/${name} ${paused ? 'paused' : 'resumed'}${dryRunNote(options.dryRun)}`])
}
