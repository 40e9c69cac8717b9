// SPDX-License-Identifier: Apache-2.0

import { label, type Pod } from '@grove/api'
import type { Harness } from './harness.ts'

/**
 * Returns the parts of a set's state that are equal in every run. Returns undefined when the set is deleted or
 * terminating.
 */
export async function endState(harness: Harness, name: string) {
  const set = await harness.set(name)
  if (!set || set.metadata.deletionTimestamp) return undefined
  return {
    set: {
      replicas: set.status?.replicas,
      available: set.status?.availableReplicas,
      updated: set.status?.updatedReplicas,
      errors: set.status?.lastErrors ?? [],
    },
    pods: (await harness.pods(name))
      .map(pod => `${placeOf(pod)} ${pod.metadata.labels?.[label.podTemplateHash]} ${pod.spec?.hostname}`)
      .sort(),
    cliques: (await harness.cliques(name))
      .map(({ metadata, spec, status }) =>
        [metadata.name, spec.replicas, status?.readyReplicas, status?.currentPodTemplateHash].join(' '),
      )
      .sort(),
    groups: (await harness.groups(name))
      .map(({ metadata, spec }) => `${metadata.name} ${spec.replicas}`)
      .sort(),
    gangs: (await harness.gangs(name))
      .map(({ metadata, spec }) =>
        [metadata.name, ...spec.podgroups.map(group => `${group.name}:${group.podReferences.length}`)].join(
          ' ',
        ),
      )
      .sort(),
  }
}

/** Identifies a pod by its clique and index, which its replacement inherits. */
export function placeOf(pod: Pod): string {
  return `${pod.metadata.labels?.[label.podClique]}/${pod.metadata.labels?.[label.podIndex]}`
}
