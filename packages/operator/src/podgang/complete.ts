// SPDX-License-Identifier: Apache-2.0

// Decides when a gang is complete. A new gang is complete when every pod that its cliques want exists and carries its label. A gang
// that was complete once is complete again with the minimum of every clique. Only then does it list further pods, and only listed
// pods are scheduled: no scheduler decides on a part of a gang, neither at first nor when it is rebuilt.
import { label, type Pod, type PodClique } from '@grove/api'
import { type CliqueInstance, minAvailableOfClique, type PodGangInstance } from '../layout/layout.ts'
import { isTerminating } from '../state/pod-state.ts'

export interface GangMembers {
  /** By the name of the clique; undefined while it does not exist. A terminating one does not count. */
  cliqueNamed(name: string): PodClique | undefined
  /** Pods controlled by that clique: by its UID, so that those of a former one of the same name do not count. */
  podsOf(clique: PodClique): readonly Pod[]
  /** Reports whether a user scaled the group below this replica, although the gang's minimum includes it. */
  isScaledAway(clique: CliqueInstance): boolean
}

/** The pods that a gang may list for a clique: those that belong to both and are not going away. */
export function gangPods(gang: string, clique: string, members: GangMembers): Pod[] {
  const owner = members.cliqueNamed(clique)
  if (!owner || owner.metadata.deletionTimestamp) return []
  return members
    .podsOf(owner)
    .filter(pod => !isTerminating(pod) && pod.metadata.labels?.[label.podGang] === gang)
}

/** The reason why a new gang is not complete, as a sentence; undefined if it is. */
export function gangLacks(gang: PodGangInstance, members: GangMembers): string | undefined {
  return firstOf(gang.cliques, ({ name }) => {
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
 * The reason why a gang that was complete once is not complete now. It does not wait for more than its minimum, nor
 * for replicas that a user scaled away: that may take for ever.
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
