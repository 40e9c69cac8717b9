// SPDX-License-Identifier: Apache-2.0
import { label, type Pod, type PodGang } from '@grove/api'

/**
 * Remembers on which node each pod of a gang ran, by clique and index, so that a replaced pod can return to it. A gang is
 * forgotten with its PodGang. A new process knows nothing: places are a preference, never a promise.
 */
export class FormerNodes {
  /** By gang, then by clique and index of the pod. */
  #known = new Map<string, Map<string, string>>()

  /** Records bound pods, and returns the nodes of pods that have no node now, by gang. */
  observe(
    pods: readonly Pod[],
    podGangs: readonly PodGang[],
    schedulerName: string,
  ): ReadonlyMap<string, readonly string[]> {
    const known = new Map<string, Map<string, string>>()
    for (const { metadata } of podGangs) {
      const key = `${metadata.namespace ?? 'default'}/${metadata.name}`
      known.set(key, this.#known.get(key) ?? new Map())
    }
    const waiting = new Map<string, string[]>()
    for (const { metadata, spec, status } of pods) {
      const { namespace = 'default', labels, deletionTimestamp } = metadata
      const gang = labels?.[label.podGang]
      const isOver = status?.phase === 'Succeeded' || status?.phase === 'Failed'
      if (!gang || spec.schedulerName !== schedulerName || isOver || deletionTimestamp) continue
      const key = `${namespace}/${gang}`
      const position = `${labels[label.podClique]} ${labels[label.podIndex]}`
      const nodes = known.get(key)
      if (!nodes) continue
      if (spec.nodeName) nodes.set(position, spec.nodeName)
      else
        waiting
          .set(key, waiting.get(key) ?? [])
          .get(key)!
          .push(position)
    }
    this.#known = known
    return new Map(
      [...waiting].map(([key, positions]) => [key, positions.flatMap(at => known.get(key)!.get(at) ?? [])]),
    )
  }
}
