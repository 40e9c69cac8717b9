// SPDX-License-Identifier: Apache-2.0

import type { ObjectMeta, Pod, PodClique, PodCliqueScalingGroup, PodCliqueSet, PodGang } from '@grove/api'

/**
 * Named, in a namespace and with an identity of its own: as much as planners and builders need. `Stored` of @grove/kube
 * is an object with all that a server returned.
 */
export type Identified<T extends { metadata?: ObjectMeta }> = T & {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string }
}

export type StoredSet = Identified<PodCliqueSet>
export type StoredScalingGroup = Identified<PodCliqueScalingGroup>
export type StoredClique = Identified<PodClique>
export type StoredGang = Identified<PodGang>

/** A pod before it has a name: the API server makes one from `generateName`. */
export type NewPod = Omit<Pod, 'metadata'> & { metadata: Omit<ObjectMeta, 'name'> }
