// SPDX-License-Identifier: Apache-2.0

// Changed snapshots: the cluster with one hypothetical change.
import type { Toleration } from '@grove/api'
import { withAdded, without, withoutAt } from '../model/usage.ts'
import { compareByName } from '../snapshot/pods.ts'
import type { Fix, Gang, Group, PackConstraint, Snapshot, SnapshotNode, SnapshotPod } from '../types.ts'

export function withGang(snapshot: Snapshot, index: number, change: (gang: Gang) => Gang): Snapshot {
  return { ...snapshot, gangs: snapshot.gangs.with(index, change(snapshot.gangs[index]!)) }
}

/** The list without these pods. The list is in the order of names, so it is not read as a whole. */
function withoutNamed(pods: readonly SnapshotPod[], gone: readonly PodName[]): readonly SnapshotPod[] {
  const positions = new Set<number>()
  for (const name of gone)
    for (let at = firstNotBefore(pods, name); pods[at] && compareByName(pods[at]!, name) === 0; at++)
      positions.add(at)
  return withoutAt(pods, positions)
}

type PodName = Pick<SnapshotPod, 'namespace' | 'name'>

function firstNotBefore(pods: readonly SnapshotPod[], name: PodName): number {
  let low = 0
  let high = pods.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (compareByName(pods[middle]!, name) < 0) low = middle + 1
    else high = middle
  }
  return low
}

export function withNodes(snapshot: Snapshot, change: (node: SnapshotNode) => SnapshotNode): Snapshot {
  return { ...snapshot, nodes: snapshot.nodes.map(change) }
}

export function withoutBoundPods(snapshot: Snapshot, isGone: (pod: SnapshotPod) => boolean): Snapshot {
  return {
    ...snapshot,
    boundPods: without(snapshot.boundPods, isGone),
    gangs: withoutMembers(snapshot.gangs, isGone),
  }
}

function withoutMembers(gangs: readonly Gang[], isGone: (pod: SnapshotPod) => boolean): readonly Gang[] {
  return gangs.map(gang =>
    gang.groups.some(({ placed }) => placed.some(isGone))
      ? {
          ...gang,
          groups: gang.groups.map(group => ({
            ...group,
            placed: group.placed.filter(pod => !isGone(pod)),
          })),
        }
      : gang,
  )
}

const scratch = new WeakMap<Gang, Gang>()

/** The gang as if none of its pods ran yet. Gated pods count too. */
export function fromScratch(gang: Gang): Gang {
  const known = scratch.get(gang) ?? newFromScratch(gang)
  scratch.set(gang, known)
  return known
}

function newFromScratch(gang: Gang): Gang {
  return {
    ...gang,
    groups: gang.groups.map(group => ({
      ...group,
      placed: [],
      gated: [],
      candidates: [
        ...group.placed.map(pod => ({ ...pod, node: undefined })),
        ...group.candidates,
        ...group.gated,
      ],
    })),
  }
}

/** The gang with its running pods, but without the domains that they pin: as if they ran on nodes that do not exist. */
export function unpinned(gang: Gang): Gang {
  const elsewhere = (pod: SnapshotPod): SnapshotPod => ({ ...pod, node: '' })
  return {
    ...gang,
    groups: gang.groups.map(group => ({ ...group, placed: group.placed.map(elsewhere) })),
    ...(gang.replicaScope && { replicaScope: { ...gang.replicaScope, nodes: [] } }),
  }
}

const withoutRequired = ({ preferred }: PackConstraint): PackConstraint => (preferred ? { preferred } : {})

/** The gang as if it did not share a domain with the other gangs of its replica. */
export function withoutReplicaScope({ replicaScope: _, ...gang }: Gang): Gang {
  return gang
}

export function withoutRequiredLevels(gang: Gang): Gang {
  return {
    ...withoutReplicaScope(gang),
    constraint: withoutRequired(gang.constraint),
    configs: gang.configs.map(config => ({ ...config, constraint: withoutRequired(config.constraint) })),
    groups: gang.groups.map(group => ({ ...group, constraint: withoutRequired(group.constraint) })),
  }
}

/** The gang with another required key on one scope, or none. */
export function withRequired(
  gang: Gang,
  scope: string,
  kind: 'gang' | 'groupConfig' | 'podGroup',
  key: string | null,
): Gang {
  const change = (constraint: PackConstraint): PackConstraint => ({
    ...withoutRequired(constraint),
    ...(key === null ? {} : { required: key }),
  })
  switch (kind) {
    case 'gang':
      return { ...gang, constraint: change(gang.constraint) }
    case 'groupConfig':
      return {
        ...gang,
        configs: gang.configs.map(config =>
          config.name === scope ? { ...config, constraint: change(config.constraint) } : config,
        ),
      }
    case 'podGroup':
      return withGroups(gang, group =>
        group.name === scope ? { ...group, constraint: change(group.constraint) } : group,
      )
  }
}

function withGroups(gang: Gang, change: (group: Group) => Group): Gang {
  return { ...gang, groups: gang.groups.map(change) }
}

function withToleration(gang: Gang, podGroups: readonly string[], toleration: Toleration): Gang {
  const changed = new Map<SnapshotPod['needs'], SnapshotPod['needs']>()
  const change = (pod: SnapshotPod): SnapshotPod => {
    const needs = changed.get(pod.needs) ?? {
      ...pod.needs,
      tolerations: [...pod.needs.tolerations, toleration],
    }
    changed.set(pod.needs, needs)
    return { ...pod, needs }
  }
  return withGroups(gang, group =>
    podGroups.includes(group.name)
      ? { ...group, candidates: group.candidates.map(change), gated: group.gated.map(change) }
      : group,
  )
}

/** Kind of the scope that a fix names. A gang, a group config and a group may have equal names; the gang comes first. */
function kindOf(gang: Gang, scope: string, from: string): 'gang' | 'groupConfig' | 'podGroup' {
  if (gang.name === scope && gang.constraint.required === from) return 'gang'
  return gang.configs.some(({ name, constraint }) => name === scope && constraint.required === from)
    ? 'groupConfig'
    : 'podGroup'
}

/** The snapshot after a fix for the gang at `index`. */
export function applyFix(snapshot: Snapshot, index: number, fix: Fix): Snapshot {
  switch (fix.op) {
    case 'Uncordon': {
      const names = new Set(fix.nodes)
      return withNodes(snapshot, node => (names.has(node.name) ? { ...node, unschedulable: false } : node))
    }
    case 'RemoveTaint': {
      const { key, value, effect } = fix.taint
      const names = new Set(fix.nodes)
      return withNodes(snapshot, node =>
        names.has(node.name)
          ? {
              ...node,
              taints: node.taints.filter(
                taint => taint.key !== key || taint.value !== value || taint.effect !== effect,
              ),
            }
          : node,
      )
    }
    case 'AddToleration':
      return withGang(snapshot, index, gang => withToleration(gang, fix.podGroups, fix.toleration))
    case 'RelaxTopology':
      return withGang(snapshot, index, gang =>
        withRequired(gang, fix.scope, kindOf(gang, fix.scope, fix.from), fix.to),
      )
    case 'LowerMinAvailable':
      return withGang(snapshot, index, gang =>
        withGroups(gang, group => (group.name === fix.podGroup ? { ...group, minReplicas: fix.to } : group)),
      )
    case 'DeletePods': {
      const boundPods = withoutNamed(snapshot.boundPods, fix.pods)
      const gone = new Set(fix.pods.map(({ namespace, name }) => `${namespace}/${name}`))
      return {
        ...snapshot,
        boundPods,
        gangs: withoutMembers(snapshot.gangs, ({ namespace, name }) => gone.has(`${namespace}/${name}`)),
      }
    }
    case 'AddNodes': {
      const like = snapshot.nodes.find(({ name }) => name === fix.like)
      if (!like) return snapshot
      const added = Array.from({ length: fix.count }, (_, i): SnapshotNode => {
        const name = `${like.name}-added-${i + 1}`
        return {
          ...like,
          name,
          unschedulable: false,
          labels: { ...like.labels, 'kubernetes.io/hostname': name },
        }
      })
      return { ...snapshot, nodes: withAdded(snapshot.nodes, added) }
    }
  }
}
