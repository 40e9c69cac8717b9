// SPDX-License-Identifier: Apache-2.0

// The JSON of `grove tree` and `grove status`. docs/cli-json.md describes it. Fields may be added; an incompatible
// change gets another version.
import type { Condition, PodCliqueSetStatus, PodGang } from '@grove/api'
import { conditionType } from '@grove/api/constants'
import { type Cause, causesOf, conditionOf, scaledBelowMinimum, waitsByClique } from './causes.ts'
import { type CountedWait, sentenceOf } from './pod-waits.ts'
import { type GangNote, type SetObjects, setTree, type TreeNode } from './set-model.ts'
import { troublesOf } from './troubles.ts'

export const cliApiVersion = 'cli.grove.io/v1alpha1'

export interface StatusDocument {
  readonly apiVersion: typeof cliApiVersion
  readonly kind: 'Status'
  readonly metadata: DocumentMetadata
  /** True if all replicas are available and have the newest template. */
  readonly converged: boolean
  readonly replicas: number
  readonly availableReplicas: number
  readonly updatedReplicas: number
  readonly pods: { readonly total: number; readonly ready: number }
  readonly revision?: string
  readonly updateProgress?: PodCliqueSetStatus['updateProgress']
  /** The condition Available of the set. */
  readonly available?: Condition
  /** The condition Stalled of the set, if it is blocked. */
  readonly stalled?: Condition
  readonly causes: readonly Cause[]
  readonly podGangs: readonly { readonly name: string; readonly phase: string }[]
  readonly waitingPods: readonly (WaitDocument & { readonly podClique: string })[]
  readonly conditions: readonly (Condition & { readonly object: { kind: string; name: string } })[]
  readonly scaledBelowMinAvailable: ReturnType<typeof scaledBelowMinimum>
}

interface DocumentMetadata {
  readonly name: string
  readonly namespace: string
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
}

interface WaitDocument {
  readonly pods: number
  readonly reason: string
  readonly message: string
}

export interface TreeDocument {
  readonly apiVersion: typeof cliApiVersion
  readonly kind: 'Tree'
  readonly metadata: DocumentMetadata
  readonly causes: readonly Cause[]
  readonly root: NodeDocument
}

export interface NodeDocument {
  readonly kind: string
  /** The name of the object, or the index of a replica. */
  readonly name: string
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly replicas?: number
  readonly availableReplicas?: number
  readonly readyReplicas?: number
  readonly updatedReplicas?: number
  /** Only if `replicas` is lower. */
  readonly minAvailable?: number
  readonly podGang?: {
    readonly name: string
    readonly phase?: string
    readonly base: boolean
    readonly initialized: boolean
    readonly conditions: readonly Condition[]
  }
  readonly waitingPods: readonly WaitDocument[]
  readonly conditions: readonly Condition[]
  readonly children: readonly NodeDocument[]
  readonly hiddenChildren?: number
}

export function isConverged({ set }: SetObjects): boolean {
  const { status: state, spec, metadata } = set
  return (
    metadata.deletionTimestamp === undefined &&
    state?.observedGeneration === metadata.generation &&
    (state?.availableReplicas ?? 0) >= (spec.replicas ?? 0) &&
    (state?.updatedReplicas ?? 0) >= (spec.replicas ?? 0)
  )
}

export function statusDocument(objects: SetObjects): StatusDocument {
  const { set, pods } = objects
  const available = set.status?.conditions?.find(({ type }) => type === conditionType.available)
  const stalled = conditionOf(set.status?.conditions, conditionType.stalled, 'True')
  const waits = waitsByClique(objects)
  const notReady = waits.flatMap(wait => wait.waits).reduce((sum, wait) => sum + wait.pods, 0)
  return {
    apiVersion: cliApiVersion,
    kind: 'Status',
    metadata: metadataOf(objects),
    converged: isConverged(objects),
    replicas: set.spec.replicas ?? 0,
    availableReplicas: set.status?.availableReplicas ?? 0,
    updatedReplicas: set.status?.updatedReplicas ?? 0,
    pods: { total: pods.length, ready: pods.length - notReady },
    ...(set.status?.currentGenerationHash && { revision: set.status.currentGenerationHash }),
    ...(set.status?.updateProgress && { updateProgress: set.status.updateProgress }),
    ...(available && { available }),
    ...(stalled && { stalled }),
    causes: causesOf(objects),
    podGangs: objects.gangs.map(({ metadata, status }) => ({
      name: metadata.name ?? '',
      phase: status?.phase ?? 'Pending',
    })),
    waitingPods: waits.flatMap(({ clique, waits: all }) =>
      all.map(wait => ({ podClique: clique, ...waitDocument(wait) })),
    ),
    conditions: conditionsOf(objects),
    scaledBelowMinAvailable: scaledBelowMinimum(objects),
  }
}

export function treeDocument(objects: SetObjects): TreeDocument {
  return {
    apiVersion: cliApiVersion,
    kind: 'Tree',
    metadata: metadataOf(objects),
    causes: causesOf(objects),
    root: nodeDocument(setTree(objects)),
  }
}

function metadataOf({ set }: SetObjects): DocumentMetadata {
  const { name = '', namespace = 'default', creationTimestamp, deletionTimestamp } = set.metadata
  return {
    name,
    namespace,
    ...(creationTimestamp && { creationTimestamp }),
    ...(deletionTimestamp && { deletionTimestamp }),
  }
}

/** Replicas are not objects, so their kinds are names of this document only. */
const nodeKinds: Partial<Record<TreeNode['kind'], string>> = {
  replica: 'Replica',
  'group replica': 'ScalingGroupReplica',
}

function nodeDocument(node: TreeNode): NodeDocument {
  const { count, updated, createdAt, deletedAt, gang, hidden } = node
  return {
    kind: nodeKinds[node.kind] ?? node.kind,
    name: node.name,
    ...(createdAt && { creationTimestamp: createdAt }),
    ...(deletedAt && { deletionTimestamp: deletedAt }),
    ...(count && {
      replicas: count.want,
      ...(count.what === 'ready' ? { readyReplicas: count.have } : { availableReplicas: count.have }),
      ...(count.needed !== undefined && { minAvailable: count.needed }),
    }),
    ...(updated && { updatedReplicas: updated.have }),
    ...(gang && { podGang: gangDocument(gang) }),
    waitingPods: node.waiting.map(waitDocument),
    conditions: node.troubles,
    children: node.children.map(nodeDocument),
    ...(hidden !== undefined && { hiddenChildren: hidden }),
  }
}

function gangDocument({ name, phase, isBase, isComplete, troubles }: GangNote) {
  return { name, ...(phase && { phase }), base: isBase, initialized: isComplete, conditions: troubles }
}

function waitDocument(wait: CountedWait): WaitDocument {
  return { pods: wait.pods, reason: wait.reason, message: sentenceOf(wait) }
}

function conditionsOf({ set, groups, cliques, gangs }: SetObjects): StatusDocument['conditions'] {
  const of = (
    kind: string,
    { metadata, status }: { metadata: { name?: string }; status?: { conditions?: PodGangConditions } },
  ) =>
    troublesOf(status?.conditions).map(condition => ({
      object: { kind, name: metadata.name ?? '' },
      ...condition,
    }))
  return [
    ...of('PodCliqueSet', set),
    ...groups.flatMap(group => of('PodCliqueScalingGroup', group)),
    ...cliques.flatMap(clique => of('PodClique', clique)),
    ...gangs.flatMap(gang => of('PodGang', gang)),
  ]
}

type PodGangConditions = NonNullable<PodGang['status']>['conditions']
