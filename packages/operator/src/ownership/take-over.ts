// SPDX-License-Identifier: Apache-2.0

// Takes over objects of another operator without a restart of a pod. Rewrites hash labels, and removes finalizers that
// only the other operator would remove. Pods are relabelled before their clique: until the clique has the new hash, its
// old hash matches that of its pods.
import { finalizer, label, type PodClique } from '@grove/api'
import type { KubeObject, Resource, Stored } from '@grove/kube'
import type { Patch } from '../apply/intent.ts'
import { resources } from '../caches/resources.ts'
import type { StoredClique, StoredPod, StoredSet } from '../layout/stored.ts'
import { templateHashOfClique } from '../revision/revision.ts'
import { revisionOf } from '../revision/set-revision.ts'

/** Reports whether a clique has the wanted template under a hash of another operator. */
export function isToBeRelabelled(set: StoredSet, clique: PodClique): boolean {
  const revision = revisionOf(set)
  const stored = templateHashOfClique(clique)
  return (
    !clique.metadata.deletionTimestamp &&
    stored !== revision.hashOf(clique) &&
    revision.isCurrent(clique, stored)
  )
}

/** Returns the patches that write the current template hash to the pods of such a clique. */
export function podRelabels(set: StoredSet, clique: StoredClique, pods: readonly StoredPod[]): Patch[] {
  const revision = revisionOf(set)
  const wanted = revision.hashOf(clique)
  return pods
    .filter(({ metadata }) => {
      const stored = metadata.labels?.[label.podTemplateHash] ?? ''
      return !metadata.deletionTimestamp && stored !== wanted && revision.isCurrent(clique, stored)
    })
    .map(pod => relabel(resources.pods, pod, wanted))
}

export function cliqueRelabel(set: StoredSet, clique: StoredClique): Patch {
  return relabel(resources.podCliques, clique, revisionOf(set).hashOf(clique))
}

function relabel(resource: Resource<KubeObject>, object: Stored<KubeObject>, hash: string): Patch {
  return {
    kind: 'patch',
    resource,
    object,
    merge: { metadata: { labels: { [label.podTemplateHash]: hash } } },
  }
}

/** The patch that removes finalizers of another operator from a terminating object; none if it has no such finalizer. */
export function withoutForeignFinalizers(
  resource: Resource<KubeObject>,
  object: Stored<KubeObject>,
): readonly Patch[] {
  const { resourceVersion, finalizers = [] } = object.metadata
  const kept = finalizers.filter(one => !foreign.has(one))
  if (kept.length === finalizers.length) return []
  return [{ kind: 'patch', resource, object, merge: { metadata: { resourceVersion, finalizers: kept } } }]
}

const foreign: ReadonlySet<string> = new Set([finalizer.foreignPodClique, finalizer.foreignScalingGroup])
