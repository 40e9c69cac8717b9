// SPDX-License-Identifier: Apache-2.0

import type { ObjectMeta, Pod, PodClique, PodCliqueScalingGroup, PodCliqueSet, PodGang } from '@grove/api'

/** An object as the API server has it: named, in a namespace, with an identity of its own. */
export type Stored<T extends { metadata?: ObjectMeta }> = T & {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string }
}

export type StoredSet = Stored<PodCliqueSet>
export type StoredScalingGroup = Stored<PodCliqueScalingGroup>
export type StoredClique = Stored<PodClique>
export type StoredGang = Stored<PodGang>

/** A pod before it has a name: the API server makes one from `generateName`. */
export type NewPod = Omit<Pod, 'metadata'> & { metadata: Omit<ObjectMeta, 'name'> }
