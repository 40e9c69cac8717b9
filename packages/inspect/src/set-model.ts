// SPDX-License-Identifier: Apache-2.0

// A set with all of its objects as a tree of data: its parts, their readiness and waiting reasons.
import type {
  Condition,
  LastError,
  Pod,
  PodClique,
  PodCliqueScalingGroup,
  PodCliqueSet,
  PodGang,
} from '@grove/api'
import { label } from '@grove/api/constants'
import { type CountedWait, countedWaits } from './pod-waits.ts'
import { troublesOf } from './troubles.ts'

export interface SetObjects {
  readonly set: PodCliqueSet
  readonly groups: readonly PodCliqueScalingGroup[]
  readonly cliques: readonly PodClique[]
  readonly gangs: readonly PodGang[]
  readonly pods: readonly Pod[]
}

export interface TreeNode {
  readonly kind: 'PodCliqueSet' | 'replica' | 'PodCliqueScalingGroup' | 'group replica' | 'PodClique'
  /** For replicas: their index. */
  readonly name: string
  readonly createdAt?: string
  readonly deletedAt?: string
  readonly count?: TreeCount
  /** Only during an update. */
  readonly updated?: { readonly have: number; readonly want: number }
  readonly gang?: GangNote
  readonly waiting: readonly CountedWait[]
  readonly troubles: readonly Condition[]
  /** The first one of each code in `status.lastErrors`: other objects of a clique repeat it with their names. */
  readonly errors?: readonly LastError[]
  readonly children: readonly TreeNode[]
  /** Number of missing replicas that are not among the children. */
  readonly hidden?: number
}

export interface TreeCount {
  readonly have: number
  readonly want: number
  readonly what: 'available' | 'ready'
  /** minAvailable, if it was scaled below. */
  readonly needed?: number
}

export interface GangNote {
  readonly name: string
  /** Undefined: it does not exist yet. */
  readonly phase?: string
  /** True if all pods that it needs have been created. */
  readonly isComplete: boolean
  readonly isBase: boolean
  readonly troubles: readonly Condition[]
}

export function setTree(objects: SetObjects): TreeNode {
  const { set } = objects
  const want = set.spec.replicas ?? 0
  const view = new View(objects)
  const present = view.replicaIndexes()
  const { indexes, hidden } = wantedIndexes(present, want)
  // A replica that was scaled in is shown until all of its objects are deleted.
  const leaving = present.filter(index => Number(index) >= want)
  return {
    kind: 'PodCliqueSet',
    name: set.metadata.name ?? '',
    ...timesOf(set),
    count: { have: set.status?.availableReplicas ?? 0, want, what: 'available' },
    ...updatedOf(set.status, want),
    waiting: [],
    troubles: troublesOf(set.status?.conditions),
    children: [...indexes, ...leaving].map(index => view.replica(index)),
    ...hidden,
  }
}

/** Maximum number of missing replicas that are listed. `spec.replicas` may be a typo, or set by an HPA. */
const listedMissing = 100

/** Existing and desired indexes in order, without most of the missing ones. */
function wantedIndexes(
  present: readonly string[],
  want: number,
): { readonly indexes: string[]; readonly hidden: Pick<TreeNode, 'hidden'> } {
  const indexes = present.map(Number).filter(index => index < want)
  const existing = new Set(indexes)
  const missing: number[] = []
  for (let index = 0; index < want && missing.length < listedMissing; index++)
    if (!existing.has(index)) missing.push(index)
  const hidden = want - existing.size - missing.length
  return {
    indexes: [...indexes, ...missing].sort((a, b) => a - b).map(String),
    hidden: hidden > 0 ? { hidden } : {},
  }
}

type Labelled = { readonly metadata: { readonly name?: string; readonly labels?: Record<string, string> } }

class View {
  readonly #set: PodCliqueSet
  readonly #gangs: ReadonlyMap<string, PodGang>
  readonly #cliques: ReadonlyMap<string, PodClique>
  readonly #cliquesOfReplica: ReadonlyMap<string, readonly PodClique[]>
  readonly #groupsOfReplica: ReadonlyMap<string, readonly PodCliqueScalingGroup[]>
  readonly #podsOfClique: ReadonlyMap<string, readonly Pod[]>

  constructor({ set, groups, cliques, gangs, pods }: SetObjects) {
    this.#set = set
    this.#gangs = byName(gangs)
    this.#cliques = byName(cliques)
    this.#cliquesOfReplica = grouped(cliques, label.setReplicaIndex)
    this.#groupsOfReplica = grouped(groups, label.setReplicaIndex)
    this.#podsOfClique = grouped(pods, label.podClique)
  }

  replicaIndexes(): string[] {
    return [...new Set([...this.#cliquesOfReplica.keys(), ...this.#groupsOfReplica.keys()])].sort(
      (a, b) => Number(a) - Number(b),
    )
  }

  replica(index: string): TreeNode {
    const cliques = this.#cliquesOfReplica.get(index) ?? []
    const standalone = cliques.filter(clique => !clique.metadata.labels?.[label.scalingGroup])
    const members = grouped(cliques, label.scalingGroup)
    return {
      kind: 'replica',
      name: index,
      gang: this.#gang(`${this.#set.metadata.name}-${index}`, true),
      waiting: [],
      troubles: [],
      children: [
        ...standalone.map(clique => this.#clique(clique)),
        ...(this.#groupsOfReplica.get(index) ?? []).map(group =>
          this.#group(group, members.get(group.metadata.name ?? '') ?? []),
        ),
      ],
    }
  }

  #group(group: PodCliqueScalingGroup, cliques: readonly PodClique[]): TreeNode {
    const { replicas: want } = group.spec
    const ofReplica = grouped(cliques, label.scalingGroupReplicaIndex)
    const present = [...ofReplica.keys()].sort((a, b) => Number(a) - Number(b))
    const { indexes, hidden } = wantedIndexes(present, want)
    return {
      kind: 'PodCliqueScalingGroup',
      name: group.metadata.name ?? '',
      ...timesOf(group),
      count: { have: group.status?.availableReplicas ?? 0, want, what: 'available', ...neededOf(group) },
      ...updatedOf(group.status, want),
      waiting: [],
      troubles: troublesOf(group.status?.conditions),
      ...errorsOf(group.status),
      children: [...new Set([...indexes, ...present])].map(index =>
        this.#groupReplica(index, ofReplica.get(index) ?? []),
      ),
      ...hidden,
    }
  }

  #groupReplica(index: string, cliques: readonly PodClique[]): TreeNode {
    const gang = cliques[0]?.metadata.labels?.[label.podGang]
    const isBase = !cliques.some(clique => clique.metadata.labels?.[label.basePodGang])
    return {
      kind: 'group replica',
      name: index,
      ...(gang !== undefined && { gang: this.#gang(gang, isBase) }),
      waiting: [],
      troubles: [],
      children: cliques.map(clique => this.#clique(clique)),
    }
  }

  #clique(clique: PodClique): TreeNode {
    const want = clique.spec.replicas
    return {
      kind: 'PodClique',
      name: clique.metadata.name ?? '',
      ...timesOf(clique),
      count: { have: clique.status?.readyReplicas ?? 0, want, what: 'ready', ...neededOf(clique) },
      ...updatedOf(clique.status, want),
      waiting: countedWaits(this.#podsOfClique.get(clique.metadata.name ?? '') ?? [], this.#cliques),
      troubles: troublesOf(clique.status?.conditions),
      ...errorsOf(clique.status),
      children: [],
    }
  }

  #gang(name: string, isBase: boolean): GangNote {
    const gang = this.#gangs.get(name)
    const conditions = gang?.status?.conditions
    return {
      name,
      ...(gang && { phase: gang.status?.phase ?? 'Pending' }),
      isComplete:
        conditions?.some(({ type, status }) => type === 'Initialized' && status === 'True') ?? false,
      isBase,
      troubles: troublesOf(conditions),
    }
  }
}

/** Set if the user scaled below minAvailable. Only scaling out ends this state. */
function neededOf({ spec }: PodClique | PodCliqueScalingGroup): Pick<TreeCount, 'needed'> {
  const { replicas, minAvailable = 0 } = spec
  return replicas < minAvailable ? { needed: minAvailable } : {}
}

function timesOf({ metadata }: PodCliqueSet | PodClique | PodCliqueScalingGroup) {
  return {
    ...(metadata.creationTimestamp && { createdAt: metadata.creationTimestamp }),
    ...(metadata.deletionTimestamp && { deletedAt: metadata.deletionTimestamp }),
  }
}

function errorsOf(
  status: { readonly lastErrors?: readonly LastError[] } | undefined,
): Pick<TreeNode, 'errors'> {
  const byCode = Map.groupBy(status?.lastErrors ?? [], ({ code }) => code)
  const errors = [...byCode.values()].map(([first]) => first!)
  return errors.length > 0 ? { errors } : {}
}

interface Updating {
  readonly updatedReplicas?: number
  readonly updateProgress?: { readonly updateStartedAt?: string; readonly updateEndedAt?: string }
}

function updatedOf(status: Updating | undefined, want: number): Pick<TreeNode, 'updated'> {
  const isRunning = status?.updateProgress?.updateStartedAt && !status.updateProgress.updateEndedAt
  return isRunning ? { updated: { have: status?.updatedReplicas ?? 0, want } } : {}
}

function byName<T extends Labelled>(objects: readonly T[]): Map<string, T> {
  return new Map(objects.map(object => [object.metadata.name ?? '', object]))
}

/** Groups objects by the value of a label, each group sorted by name. */
function grouped<T extends Labelled>(objects: readonly T[], key: string): Map<string, T[]> {
  const labelled = objects
    .filter(({ metadata }) => metadata.labels?.[key] !== undefined)
    .sort((a, b) => compare(a.metadata.name ?? '', b.metadata.name ?? ''))
  return Map.groupBy(labelled, ({ metadata }) => metadata.labels![key]!)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
