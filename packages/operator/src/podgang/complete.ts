// SPDX-License-Identifier: Apache-2.0

// Decides when a gang is complete. A new gang is complete when every pod that its cliques want exists and carries its
// label. A gang that was complete once is complete again with minAvailable pods of every clique. Neither waits for group
// replicas that a user scaled away, because that might never end. Only a complete gang lists new pods, and only listed
// pods are scheduled. No scheduler therefore ever decides on a part of a gang, neither at first nor when the gang is
// rebuilt.
import { label, type Pod, type PodClique } from '@grove/api'
import { type CliqueInstance, minAvailableOfClique, type PodGangInstance } from '../layout/layout.ts'
import { isTerminating } from '../state/pod-state.ts'

export interface GangMembers {
  /** Returns the clique of this name; undefined if it does not exist or is terminating. */
  cliqueNamed(name: string): PodClique | undefined
  /** The pods that the clique controls, by its UID: pods of a deleted clique of the same name do not count. */
  podsOf(clique: PodClique): readonly Pod[]
  /**
   * Reports whether a user scaled the group in so far that this replica is not wanted, although the gang's minimum
   * includes it.
   */
  isScaledAway(clique: CliqueInstance): boolean
}

/** The pods that a gang may list for a clique: those that belong to both and are not terminating. */
export function gangPods(gang: string, clique: string, members: GangMembers): Pod[] {
  const owner = members.cliqueNamed(clique)
  if (!owner || owner.metadata.deletionTimestamp) return []
  return members
    .podsOf(owner)
    .filter(pod => !isTerminating(pod) && pod.metadata.labels?.[label.podGang] === gang)
}

/** The reason why a new gang is not complete, as a sentence; undefined if it is. */
export function gangLacks(gang: PodGangInstance, members: GangMembers): string | undefined {
  return firstOf(gang.cliques, instance => {
    if (members.isScaledAway(instance)) return undefined
    const { name } = instance
    const clique = members.cliqueNamed(name)
    if (!clique || clique.metadata.deletionTimestamp) return `PodClique ${name} does not exist yet`
    const pods = members.podsOf(clique).filter(pod => !isTerminating(pod))
    const mislabelled = pods.find(pod => pod.metadata.labels?.[label.podGang] !== gang.name)
    if (mislabelled)
      return `Pod ${mislabelled.metadata.name} of PodClique ${name} is not labelled ${label.podGang}=${gang.name}`
    return pods.length < clique.spec.replicas
      ? `PodClique ${name} has ${pods.length} of ${clique.spec.replicas} pods`
      : undefined
  })
}

/**
 * The reason why a gang that was complete once is not complete now. The gang needs only its minimum, because waiting for
 * more might never end.
 */
export function gangLost(gang: PodGangInstance, members: GangMembers): string | undefined {
  return firstOf(gang.cliques, clique => {
    if (members.isScaledAway(clique)) return undefined
    const { length } = gangPods(gang.name, clique.name, members)
    const wanted = members.cliqueNamed(clique.name)?.spec.replicas ?? Number.POSITIVE_INFINITY
    const minimum = Math.min(minAvailableOfClique(clique.template), wanted)
    return length < minimum
      ? `PodClique ${clique.name} has ${length} of the ${minimum} pods that it needs at least`
      : undefined
  })
}

function firstOf<T, Result>(items: readonly T[], look: (item: T) => Result | undefined): Result | undefined {
  for (const item of items) {
    const found = look(item)
    if (found !== undefined) return found
  }
  return undefined
}
