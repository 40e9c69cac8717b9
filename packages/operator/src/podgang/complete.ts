// SPDX-License-Identifier: Apache-2.0

// Whether a gang is there as a whole. New ones are when every pod that their cliques want exists and is labelled for
// them; those that were complete once are again with the minimum of every clique. Only then are further pods listed, and
// only those that are listed are placed: no scheduler decides on half a gang, neither at first nor when it is rebuilt.
import { label, type Pod, type PodClique } from '@grove/api'
import { type CliqueInstance, minAvailableOfClique, type PodGangInstance } from '../layout/layout.ts'
import { isTerminating } from '../state/pod-state.ts'

export interface GangMembers {
  /** By the name of the clique; undefined while it does not exist. A terminating one is on its way out. */
  cliqueNamed(name: string): PodClique | undefined
  /** Pods controlled by that clique: by its UID, so that those of a former one of the same name do not count. */
  podsOf(clique: PodClique): readonly Pod[]
  /** Whether somebody scaled its group so far in that it is not to be there, although the gang's minimum names it. */
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

/** What a gang lacks that was never complete, as a sentence; undefined when it is. */
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
 * What a gang lacks that was complete once. More than its minimum is not waited for, nor what somebody scaled away:
 * that may take for ever.
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
