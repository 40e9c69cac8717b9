// SPDX-License-Identifier: Apache-2.0

// The state of a rollout, computed from the status of the set.
import type { Condition, PodCliqueSet } from '@grove/api'
import { conditionType } from '@grove/api/constants'
import { type ClusterOptions, withCluster } from '../clusters/live-cluster.ts'
import { noSuchSet } from '../clusters/set-objects.ts'
import { CommandError } from '../command-error.ts'
import { milliseconds } from '../commands/duration.ts'
import { printJson, printLines } from '../terminal/print.ts'
import { followSet } from '../tree/followed-set.ts'

export interface RolloutStatusOptions extends ClusterOptions {
  readonly watch?: boolean
  readonly timeout?: string
  readonly output: string
}

export interface Progress {
  readonly state: 'done' | 'underway' | 'late'
  readonly message: string
}

/** The exit code is 0 if all replicas are updated. With `--watch` it waits for that until the progress deadline. */
export async function rolloutStatus(name: string, options: RolloutStatusOptions): Promise<number> {
  const signal =
    options.timeout === undefined
      ? undefined
      : AbortSignal.timeout(milliseconds('--timeout', options.timeout))
  const print = (progress: Progress) =>
    options.output === 'json' ? printJson({ name, ...progress }) : printLines([progress.message])
  return withCluster(options, async ({ client, namespace }) => {
    let printed = ''
    for await (const seen of followSet(client, { name, namespace }, { ...(signal && { signal }) })) {
      if (!seen) throw await noSuchSet({ client, namespace }, name)
      const progress = progressOf(seen.set)
      if (progress.message !== printed) print(progress)
      printed = progress.message
      if (progress.state === 'done') return 0
      if (!options.watch || progress.state === 'late') return 1
    }
    throw new CommandError(`timed out waiting for ${name}`, 1)
  })
}

export function progressOf({ metadata, spec, status }: PodCliqueSet): Progress {
  const { name } = metadata
  const wanted = spec.replicas ?? 0
  const waiting = (message: string): Progress => ({
    state: 'underway',
    message: `Waiting for rollout to finish: ${message}`,
  })
  const condition = status?.conditions?.find(({ type }) => type === conditionType.updateProgressing)
  // During an update the newest generation is observed, but not reconciled completely.
  if (![status?.observedGeneration, condition?.observedGeneration].includes(metadata.generation))
    return waiting('the operator has not reconciled the newest spec yet')
  if (condition?.reason === 'ProgressDeadlineExceeded')
    return {
      state: 'late',
      message: `podcliqueset "${name}" exceeded its progress deadline: ${condition.message}`,
    }
  const updated = status?.updatedReplicas ?? 0
  const available = status?.availableReplicas ?? 0
  const runs = status?.updateProgress !== undefined && status.updateProgress.updateEndedAt === undefined
  if (runs || updated < wanted)
    return waiting(
      `${updated} of ${wanted} replicas are updated${surgeNote(status, runs)}${because(spec, status, condition, runs)}`,
    )
  if (available < wanted) return waiting(`${available} of ${wanted} updated replicas are available`)
  return { state: 'done', message: `podcliqueset "${name}" successfully rolled out` }
}

function surgeNote(status: PodCliqueSet['status'], runs: boolean): string {
  const count = (runs && status?.updateProgress?.surgeReplicas) || 0
  return count ? `, plus ${count} surge ${count === 1 ? 'replica' : 'replicas'}` : ''
}

/** Uses the operator's condition message if there is one. */
function because(
  spec: PodCliqueSet['spec'],
  status: PodCliqueSet['status'],
  condition: Condition | undefined,
  runs: boolean,
): string {
  if (runs && condition?.message) return `: ${condition.message}`
  if (spec.updateStrategy?.type === 'OnDelete')
    return ': outdated pods are replaced after you delete them (OnDelete)'
  const [current] = status?.updateProgress?.currentlyUpdating ?? []
  if (!runs || !current) return ''
  const { updateProgress: progress } = status!
  const parts = (done: number | undefined, all: number | undefined, what: string) =>
    all ? [`${done ?? 0} of ${all} ${what}`] : []
  return `: updating replica ${current.replicaIndex}, ${[
    ...parts(progress!.updatedPodCliquesCount, progress!.totalPodCliquesCount, 'cliques'),
    ...parts(
      progress!.updatedPodCliqueScalingGroupsCount,
      progress!.totalPodCliqueScalingGroupsCount,
      'scaling groups',
    ),
  ].join(' and ')} are updated`
}
