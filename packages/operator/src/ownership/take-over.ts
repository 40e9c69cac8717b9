// SPDX-License-Identifier: Apache-2.0

// What another operator left is made ours without touching a pod's life: hash labels are rewritten, finalizers that
// only their author would take away are taken away. Pods come before their clique: until the clique has its new name,
// its old one explains theirs.
import { finalizer, label, type PodClique, type PodCliqueScalingGroup } from '@grove/api'
import { isNotFound, type Resource, type Stored } from '@grove/kube'
import { patchObject, runAll } from '../apply/writes.ts'
import { resources } from '../caches/resources.ts'
import { ReconcileFailed } from '../errors/coded-error.ts'
import type { StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { templateHashOfClique } from '../revision/revision.ts'
import { revisionOf } from '../revision/set-revision.ts'

/** Whether a clique is of the wanted template under a name that is not ours. */
export function isToBeRenamed(set: StoredSet, clique: PodClique): boolean {
  const revision = revisionOf(set)
  const stored = templateHashOfClique(clique)
  return (
    !clique.metadata.deletionTimestamp &&
    stored !== revision.hashOf(clique) &&
    revision.isCurrent(clique, stored)
  )
}

/** Gives the pods of such a clique our name of their template; returns the failures. */
export function renamePods(
  set: StoredSet,
  clique: Stored<PodClique>,
  { caches }: OperatorContext,
  signal: AbortSignal,
): Promise<unknown[]> {
  const revision = revisionOf(set)
  const wanted = revision.hashOf(clique)
  const pods = caches.podsOf(clique).filter(({ metadata }) => {
    const stored = metadata.labels?.[label.podTemplateHash] ?? ''
    return !metadata.deletionTimestamp && stored !== wanted && revision.isCurrent(clique, stored)
  })
  return runAll(
    pods.map(pod => async () => {
      const patch = { metadata: { labels: { [label.podTemplateHash]: wanted } } }
      try {
        await patchObject(caches, resources.pods, pod, { merge: patch }, { signal })
      } catch (error) {
        if (!isNotFound(error)) throw error
      }
    }),
  )
}

/** Gives a whole clique our name of its template, its pods first. */
export async function renameClique(
  set: StoredSet,
  clique: Stored<PodClique>,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const failures = await renamePods(set, clique, context, signal)
  if (failures.length) throw new ReconcileFailed(failures)
  const labels = { [label.podTemplateHash]: revisionOf(set).hashOf(clique) }
  await patchObject(
    context.caches,
    resources.podCliques,
    clique,
    { merge: { metadata: { labels } } },
    { signal },
  )
}

/** Lets an object go that is on its way out and held by a finalizer that we never add. */
export async function releaseForeign<T extends PodClique | PodCliqueScalingGroup>(
  resource: Resource<T>,
  object: Stored<T>,
  { caches }: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const { resourceVersion, finalizers = [] } = object.metadata
  const kept = finalizers.filter(one => !foreign.has(one))
  if (kept.length === finalizers.length) return
  const patch = { metadata: { resourceVersion, finalizers: kept } }
  try {
    await patchObject(caches, resource, object, { merge: patch }, { signal })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

const foreign: ReadonlySet<string> = new Set([finalizer.foreignPodClique, finalizer.foreignScalingGroup])
