// SPDX-License-Identifier: Apache-2.0

// Prepares a set for the Go operator, which does not know the hashes of this operator and would recreate every pod.
// Pure. The hashes become those that the Go operator stores for the same templates. The Go operator adds its finalizers
// when it first reconciles an object. This operator must be stopped: it would take the set over again.
import {
  hashAlgorithmOf,
  label,
  legacyGenerationHash,
  legacyPodTemplateHash,
  type Pod,
  type PodClique,
  type PodCliqueScalingGroup,
  type PodCliqueSet,
} from '@grove/api'
import { cliqueInstanceOf } from '../layout/clique-instance.ts'
import type { StoredSet } from '../layout/stored.ts'
import { hasReachedGeneration } from '../revision/revision.ts'
import { revisionOf } from '../revision/set-revision.ts'

export interface HandbackObjects {
  readonly set: PodCliqueSet
  readonly groups: readonly PodCliqueScalingGroup[]
  readonly cliques: readonly PodClique[]
  readonly pods: readonly Pod[]
}

export interface HandbackPatch {
  readonly kind: 'PodCliqueSet' | 'PodCliqueScalingGroup' | 'PodClique' | 'Pod'
  readonly name: string
  readonly subresource?: 'status'
  readonly merge: object
}

export type Handback =
  | { readonly outcome: 'ready'; readonly patches: readonly HandbackPatch[] }
  /** An error: the set must not be handed back now. */
  | { readonly outcome: 'blocked'; readonly reason: string }

/** Maps a hash of this operator to that of the Go operator. Hashes of other templates stay. */
type Rename = (own: string | undefined) => string | undefined

/**
 * The patches in a safe order: pods before their clique, and the set last. If only some of them are sent, this operator
 * still takes the set over without a restart.
 */
export function planHandback({ set, groups, cliques, pods }: HandbackObjects): Handback {
  const stored = set as StoredSet
  const { name, deletionTimestamp } = set.metadata
  if (deletionTimestamp) return blocked(`PodCliqueSet ${name} is being deleted`)
  if (!isFinished(set)) return blocked(`an update of PodCliqueSet ${name} is in progress; let it finish`)
  const revision = revisionOf(stored)
  const generation = legacyGenerationHash(set.spec)
  /** With OnDelete, a child may not have reached the generation. Its hash then stays different. */
  const renameGeneration: Rename = own => (hasReachedGeneration(own, revision) ? generation : own)
  const patches: HandbackPatch[] = []
  const podsOf = Map.groupBy(pods, pod => pod.metadata.labels?.[label.podClique] ?? '')
  for (const clique of cliques) {
    const instance = cliqueInstanceOf(stored, clique)
    if (!instance || clique.metadata.deletionTimestamp) continue
    const hash = legacyPodTemplateHash(set.spec.template, instance.template)
    const rename: Rename = own => (own !== undefined && revision.isCurrent(clique, own) ? hash : own)
    for (const pod of podsOf.get(clique.metadata.name ?? '') ?? []) {
      const own = pod.metadata.labels?.[label.podTemplateHash]
      if (!pod.metadata.deletionTimestamp && rename(own) !== own)
        patches.push({ kind: 'Pod', name: pod.metadata.name ?? '', merge: hashLabel(hash) })
    }
    patches.push(...cliquePatches(clique, rename, renameGeneration))
  }
  for (const group of groups)
    if (group.status && isRenamed(group.status.currentPodCliqueSetGenerationHash, renameGeneration))
      patches.push(statusPatch('PodCliqueScalingGroup', group, generationsOf(group.status, renameGeneration)))
  if (set.status?.currentGenerationHash !== generation)
    patches.push(statusPatch('PodCliqueSet', set, { currentGenerationHash: generation }))
  return { outcome: 'ready', patches }
}

/** With OnDelete, pods of an older template may remain. The Go operator leaves them alone as well. */
function isFinished({ metadata, status }: PodCliqueSet): boolean {
  const progress = status?.updateProgress
  return (
    status?.observedGeneration === metadata.generation &&
    status?.currentGenerationHash !== undefined &&
    hashAlgorithmOf(status.currentGenerationHash) !== 'unknown' &&
    !(progress?.updateStartedAt && !progress.updateEndedAt)
  )
}

function cliquePatches(clique: PodClique, rename: Rename, renameGeneration: Rename): HandbackPatch[] {
  const { metadata, status } = clique
  const own = metadata.labels?.[label.podTemplateHash]
  const hash = rename(own)
  const patches: HandbackPatch[] = []
  if (hash !== undefined && hash !== own)
    patches.push({ kind: 'PodClique', name: clique.metadata.name ?? '', merge: hashLabel(hash) })
  const isToBeWritten =
    isRenamed(status?.currentPodTemplateHash, rename) ||
    isRenamed(status?.currentPodCliqueSetGenerationHash, renameGeneration)
  if (status && isToBeWritten) {
    const generations = generationsOf(status, renameGeneration)
    const progress = status.updateProgress
    patches.push(
      statusPatch('PodClique', clique, {
        ...generations,
        ...(status.currentPodTemplateHash && {
          currentPodTemplateHash: rename(status.currentPodTemplateHash),
        }),
        ...(progress && {
          updateProgress: {
            ...generations.updateProgress,
            podTemplateHash: rename(progress.podTemplateHash),
          },
        }),
      }),
    )
  }
  return patches
}

function generationsOf(
  status: {
    readonly updateProgress?: { readonly podCliqueSetGenerationHash: string }
    readonly currentPodCliqueSetGenerationHash?: string
  },
  rename: Rename,
): { readonly updateProgress?: object } {
  const { currentPodCliqueSetGenerationHash: current, updateProgress: progress } = status
  return {
    ...(current !== undefined && { currentPodCliqueSetGenerationHash: rename(current) }),
    ...(progress && {
      updateProgress: { podCliqueSetGenerationHash: rename(progress.podCliqueSetGenerationHash) },
    }),
  }
}

function isRenamed(own: string | undefined, rename: Rename): boolean {
  return own !== undefined && rename(own) !== own
}

function statusPatch(
  kind: HandbackPatch['kind'],
  { metadata }: { readonly metadata: { readonly name?: string } },
  status: object,
): HandbackPatch {
  return { kind, name: metadata.name ?? '', subresource: 'status', merge: { status } }
}

function hashLabel(hash: string): object {
  return { metadata: { labels: { [label.podTemplateHash]: hash } } }
}

function blocked(reason: string): Handback {
  return { outcome: 'blocked', reason }
}
