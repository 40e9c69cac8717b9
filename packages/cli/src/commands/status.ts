// SPDX-License-Identifier: Apache-2.0

import { type Condition, label, type PodClique, type PodCliqueScalingGroup } from '@grove/api'
import type { ClusterOptions } from '../clusters/live-cluster.ts'
import { bad, good, type Line, waiting as pending } from '../terminal/line.ts'
import { countedWaits } from '../tree/pod-waits.ts'
import { neededOf, type SetObjects } from '../tree/set-model.ts'
import { showSet } from '../tree/show-set.ts'
import { troublesOf } from '../tree/troubles.ts'

export interface StatusOptions extends ClusterOptions {
  readonly watch?: boolean
  readonly output: string
}

/**
 * Prints the status of a set and the problems of its parts. The exit code is 1 until the set is available and updated.
 */
export async function status(name: string | undefined, options: StatusOptions): Promise<number> {
  const objects = await showSet(name, options, { lines: statusLines, value: summary })
  return objects && isConverged(objects) ? 0 : 1
}

function isConverged({ set }: SetObjects): boolean {
  const { status: state, spec, metadata } = set
  return (
    metadata.deletionTimestamp === undefined &&
    state?.observedGeneration === metadata.generation &&
    (state?.availableReplicas ?? 0) >= (spec.replicas ?? 0) &&
    (state?.updatedReplicas ?? 0) >= (spec.replicas ?? 0)
  )
}

function summary(objects: SetObjects) {
  const { set } = objects
  return {
    name: set.metadata.name,
    namespace: set.metadata.namespace,
    converged: isConverged(objects),
    replicas: set.spec.replicas ?? 0,
    availableReplicas: set.status?.availableReplicas ?? 0,
    updatedReplicas: set.status?.updatedReplicas ?? 0,
    revision: set.status?.currentGenerationHash,
    deletedSince: set.metadata.deletionTimestamp,
    updateProgress: set.status?.updateProgress,
    gangs: objects.gangs.map(({ metadata, status: state }) => ({
      name: metadata.name,
      phase: state?.phase ?? 'Pending',
    })),
    lastErrors: [
      ...(set.status?.lastErrors ?? []),
      ...objects.groups.flatMap(group => group.status?.lastErrors ?? []),
      ...objects.cliques.flatMap(clique => clique.status?.lastErrors ?? []),
    ],
    scaledBelowMinimum: scaledBelowMinimum(objects),
    troubles: troubles(objects),
    waiting: waiting(objects),
  }
}

export function statusLines(objects: SetObjects): Line[] {
  const seen = summary(objects)
  const { name, replicas, availableReplicas, updatedReplicas, updateProgress, converged } = seen
  const current = updateProgress?.currentlyUpdating?.[0]?.replicaIndex
  const head = `${name}: ${availableReplicas}/${replicas} replicas available, ${updatedReplicas}/${replicas} on revision ${seen.revision ?? '(none yet)'}`
  const isUpdating = updateProgress?.updateStartedAt && !updateProgress.updateEndedAt
  return [
    converged ? good(head) : pending(head),
    ...(seen.deletedSince ? [bad(`  being deleted since ${seen.deletedSince}`)] : []),
    ...(isUpdating
      ? [
          `  update started at ${updateProgress.updateStartedAt}${current === undefined ? '' : `, now at replica ${current}`}`,
        ]
      : []),
    ...seen.lastErrors.map(error => bad(`  error ${error.code}: ${error.description}`)),
    ...seen.scaledBelowMinimum.map(({ kind, name: of, replicas: now, minAvailable }) =>
      bad(`  ${kind} ${of}: scaled to ${now}, below its minAvailable ${minAvailable}`),
    ),
    ...troubleLines(seen.troubles),
    ...waitLines(seen.waiting).map(line => pending(line)),
  ]
}

/** More parts with the same problem share one line. `-o json` contains all of them. */
const listedIndividually = 3

function troubleLines(all: ReturnType<typeof troubles>): string[] {
  const alike = Map.groupBy(all, ({ kind, type, reason }) => `${kind} ${type} ${reason}`)
  return [...alike.values()].flatMap(same => {
    const { kind, type, reason, message } = same[0]!
    const line = (who: string, since: string) => `  ${who}: ${type} ${reason} since ${since}: `
    if (same.length <= listedIndividually)
      return same.map(one => `${line(`${kind} ${one.name}`, one.since)}${one.message}`)
    const first = same.map(({ since }) => since).sort()[0]!
    return [`${line(`${same.length} ${kind}s, such as ${same[0]!.name}`, first)}${message}`]
  })
}

function waitLines(all: ReturnType<typeof waiting>): string[] {
  const counted = (pods: number) => `${pods} ${pods === 1 ? 'pod' : 'pods'}`
  return [...Map.groupBy(all, ({ why }) => why)].flatMap(([why, same]) => {
    if (same.length <= listedIndividually)
      return same.map(({ clique, pods }) => `  PodClique ${clique}: ${counted(pods)} ${why}`)
    const pods = same.reduce((sum, one) => sum + one.pods, 0)
    return [`  ${same.length} PodCliques, such as ${same[0]!.clique}: ${counted(pods)} ${why}`]
  })
}

function scaledBelowMinimum({ groups, cliques }: SetObjects) {
  const ofKind = (kind: string, objects: readonly (PodClique | PodCliqueScalingGroup)[]) =>
    objects.flatMap(object => {
      const { needed } = neededOf(object)
      const { metadata, spec } = object
      return needed === undefined
        ? []
        : [{ kind, name: metadata.name, replicas: spec.replicas, minAvailable: needed }]
    })
  return [...ofKind('PodCliqueScalingGroup', groups), ...ofKind('PodClique', cliques)]
}

function troubles({ set, groups, cliques, gangs }: SetObjects) {
  const about = (
    kind: string,
    { metadata, status: state }: { metadata: { name?: string }; status?: { conditions?: Condition[] } },
  ) =>
    troublesOf(state?.conditions).map(({ type, reason, message, lastTransitionTime }) => ({
      kind,
      name: metadata.name,
      type,
      reason,
      message,
      since: lastTransitionTime,
    }))
  return [
    ...about('PodCliqueSet', set),
    ...groups.flatMap(group => about('PodCliqueScalingGroup', group)),
    ...cliques.flatMap(clique => about('PodClique', clique)),
    ...gangs.flatMap(gang => about('PodGang', gang)),
  ]
}

/** Reasons why pods are not ready, by clique. */
function waiting({ cliques, pods }: SetObjects) {
  const byName = new Map(cliques.map(clique => [clique.metadata.name ?? '', clique]))
  const podsOf = Map.groupBy(pods, pod => pod.metadata.labels?.[label.podClique] ?? '')
  return [...byName.keys()]
    .sort()
    .flatMap(clique => countedWaits(podsOf.get(clique) ?? [], byName).map(wait => ({ clique, ...wait })))
}
