// SPDX-License-Identifier: Apache-2.0

// A gang is complete when every pod that its cliques want exists and is labelled for it. Only then is any of them
// placed, so that no scheduler decides on half a gang.
import { label, type Pod, type PodClique } from '@grove/api'
import type { PodGangInstance } from '../layout.ts'
import { isTerminating } from '../podclique/pod-state.ts'

export interface GangPods {
  /** By the name of the clique; undefined while it does not exist. A terminating one is on its way out. */
  cliqueNamed(name: string): PodClique | undefined
  /** Pods controlled by that clique: by its UID, so that those of a former one of the same name do not count. */
  podsOf(clique: PodClique): readonly Pod[]
}

/** The pods that a gang lists for a clique: those that belong to both and are not going away. */
export function gangPods(gang: string, clique: string, world: GangPods): Pod[] {
  const owner = world.cliqueNamed(clique)
  if (!owner) return []
  return world
    .podsOf(owner)
    .filter(pod => !isTerminating(pod) && pod.metadata.labels?.[label.podGang] === gang)
}

/** What a gang lacks, as a sentence; undefined when it is complete. */
export function gangLacks(gang: PodGangInstance, world: GangPods): string | undefined {
  for (const { name } of gang.cliques) {
    const clique = world.cliqueNamed(name)
    if (!clique || clique.metadata.deletionTimestamp) return `PodClique ${name} does not exist yet`
    const pods = world.podsOf(clique).filter(pod => !isTerminating(pod))
    const mislabelled = pods.find(pod => pod.metadata.labels?.[label.podGang] !== gang.name)
    if (mislabelled)
      return `Pod ${mislabelled.metadata.name} of PodClique ${name} is not labelled ${label.podGang}=${gang.name}`
    if (pods.length < clique.spec.replicas)
      return `PodClique ${name} has ${pods.length} of ${clique.spec.replicas} pods`
  }
  return undefined
}
