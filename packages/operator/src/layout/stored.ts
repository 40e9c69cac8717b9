// SPDX-License-Identifier: Apache-2.0

import type { ObjectMeta, Pod, PodClique, PodCliqueScalingGroup, PodCliqueSet, PodGang } from '@grove/api'
import type { KubeObject, Stored } from '@grove/kube'

/** An object of a namespaced kind. The API server stores none of these without a namespace. */
export type InNamespace<T extends KubeObject> = T & { readonly metadata: { readonly namespace: string } }

export type StoredSet = Stored<InNamespace<PodCliqueSet>>
export type StoredScalingGroup = Stored<InNamespace<PodCliqueScalingGroup>>
export type StoredClique = Stored<InNamespace<PodClique>>
export type StoredGang = Stored<InNamespace<PodGang>>
export type StoredPod = Stored<InNamespace<Pod>>

/** A pod before the API server has generated its name from `generateName`. */
export type NewPod = Omit<Pod, 'metadata'> & { metadata: Omit<ObjectMeta, 'name'> }
