// SPDX-License-Identifier: Apache-2.0

import type { Condition } from '@grove/api'
import { type ClusterOptions, withCluster } from '../live-cluster.ts'
import { printJson, printLines } from '../print.ts'
import { readSet } from '../set-objects.ts'
import type { SetObjects } from '../tree/set-tree.ts'

export interface StatusOptions extends ClusterOptions {
  readonly output: string
}

/** What a set says of itself, and what its parts complain about. Exit code 1 while it is not as wanted. */
export async function status(name: string, options: StatusOptions): Promise<number> {
  const objects = await withCluster(options, cluster => readSet(cluster, name))
  if (options.output === 'json') printJson(summary(objects))
  else printLines(lines(objects))
  return isSettled(objects) ? 0 : 1
}

function isSettled({ set }: SetObjects): boolean {
  const { status: state, spec, metadata } = set
  return (
    state?.observedGeneration === metadata.generation &&
    (state?.availableReplicas ?? 0) >= (spec.replicas ?? 0) &&
    (state?.updatedReplicas ?? 0) >= (spec.replicas ?? 0)
  )
}

function summary(objects: SetObjects) {
  const { set } = objects
  return {
    name: set.metadata.name,
    settled: isSettled(objects),
    replicas: set.spec.replicas ?? 0,
    availableReplicas: set.status?.availableReplicas ?? 0,
    updatedReplicas: set.status?.updatedReplicas ?? 0,
    revision: set.status?.currentGenerationHash,
    updateProgress: set.status?.updateProgress,
    lastErrors: set.status?.lastErrors ?? [],
    troubles: troubles(objects),
  }
}

function lines(objects: SetObjects): string[] {
  const {
    name,
    replicas,
    availableReplicas,
    updatedReplicas,
    revision,
    updateProgress,
    lastErrors,
    troubles: sore,
  } = summary(objects)
  const current = updateProgress?.currentlyUpdating?.[0]?.replicaIndex
  return [
    `${name}: ${availableReplicas}/${replicas} replicas available, ${updatedReplicas}/${replicas} on revision ${revision ?? '(none yet)'}`,
    ...(updateProgress && !updateProgress.updateEndedAt
      ? [
          `  an update runs since ${updateProgress.updateStartedAt}${current === undefined ? '' : `, now at replica ${current}`}`,
        ]
      : []),
    ...lastErrors.map(error => `  error ${error.code}: ${error.description}`),
    ...sore.map(trouble => `  ${trouble}`),
  ]
}

/** Conditions that say that something is not as it should be. */
function troubles({ set, groups, cliques }: SetObjects): string[] {
  const about = (kind: string, name: string, conditions: readonly Condition[] | undefined) =>
    (conditions ?? [])
      .filter(({ type, status: state }) =>
        type === 'PodCliqueScheduled'
          ? state === 'False'
          : type === 'MinAvailableBreached' ||
              type === 'TopologyLevelsUnavailable' ||
              type === 'GangTerminationInProgress'
            ? state !== 'False'
            : false,
      )
      .map(
        ({ type, reason, message, lastTransitionTime }) =>
          `${kind} ${name}: ${type} ${reason} since ${lastTransitionTime}: ${message}`,
      )
  return [
    ...about('PodCliqueSet', set.metadata.name, set.status?.conditions),
    ...groups.flatMap(group => about('PodCliqueScalingGroup', group.metadata.name, group.status?.conditions)),
    ...cliques.flatMap(clique => about('PodClique', clique.metadata.name, clique.status?.conditions)),
  ]
}
