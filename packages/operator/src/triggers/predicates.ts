// SPDX-License-Identifier: Apache-2.0

// Predicates: decide which changes of an object require a reconcile of which other objects.
import { conditionType, label, type Pod, type PodClique, type PodGang } from '@grove/api'
import type { Change, KubeObject, Stored } from '@grove/kube'
import { sameMeaning } from '../apply/owned-fields.ts'
import {
  type CliqueKey,
  cliqueKey,
  type GroupKey,
  groupKey,
  type SetKey,
  setKey,
} from '../layout/object-key.ts'
import { findCondition } from '../state/conditions.ts'
import { isReady, unschedulableMessage } from '../state/pod-state.ts'

/**
 * Ignores status-only updates, which the operator itself causes. Every annotation counts, so that a user can trigger a
 * reconcile with `grove.io/reconcile-trigger`.
 */
export function needsReconcile(change: Change<KubeObject>): boolean {
  if (change.type !== 'update') return true
  const before = change.old.metadata
  const after = change.new.metadata
  return (
    before.generation !== after.generation ||
    before.deletionTimestamp !== after.deletionTimestamp ||
    !sameMeaning(before.labels, after.labels) ||
    !sameMeaning(before.annotations, after.annotations)
  )
}

/** Another client has removed the status. The operator itself never removes all conditions. */
export function losesStatus(change: Change<KubeObject>): boolean {
  if (change.type !== 'update') return false
  const hasConditions = (object: KubeObject & { status?: { conditions?: readonly unknown[] } }) =>
    (object.status?.conditions ?? []).length > 0
  return hasConditions(change.old) && !hasConditions(change.new)
}

export function cliqueNeedsReconcile(change: Change<PodClique>): boolean {
  return (
    change.type !== 'update' ||
    change.old.metadata.generation !== change.new.metadata.generation ||
    changesOwner(change) ||
    losesStatus(change) ||
    !sameMeaning(change.old.metadata.labels, change.new.metadata.labels)
  )
}

/** A gang lists names of pods: only their creation, deletion, owner and labels matter. */
export function gangNeedsReconcile(change: Change<Pod>): boolean {
  return (
    change.type !== 'update' ||
    change.old.metadata.deletionTimestamp !== change.new.metadata.deletionTimestamp ||
    changesOwner(change) ||
    !sameMeaning(change.old.metadata.labels, change.new.metadata.labels)
  )
}

/** The fields of pods from which the status of a gang is derived. */
export function changesGangStatus(change: Change<Pod>): boolean {
  if (change.type !== 'update') return false
  const { old: before, new: after } = change
  return (
    before.spec?.nodeName !== after.spec?.nodeName ||
    before.status?.phase !== after.status?.phase ||
    isReady(before) !== isReady(after) ||
    unschedulableMessage(before) !== unschedulableMessage(after) ||
    !sameMeaning(before.spec?.schedulingGates, after.spec?.schedulingGates)
  )
}

/**
 * Another client edited or deleted a gang, or an object that its scheduler reads, or removed its status. Other status
 * changes do not count, because schedulers write them.
 */
export function needsRepair(change: Change<KubeObject & { spec?: unknown }>): boolean {
  if (change.type !== 'update') return change.type === 'delete'
  return (
    losesStatus(change) ||
    !sameMeaning(change.old.spec, change.new.spec) ||
    !sameMeaning(change.old.metadata.labels, change.new.metadata.labels) ||
    !sameMeaning(change.old.metadata.annotations, change.new.metadata.annotations)
  )
}

/** The status of a set lists the phase of each gang, and the cause for which it waits. */
export function changesGangSummary(change: Change<PodGang>): boolean {
  if (change.type !== 'update') return true
  const { old: before, new: after } = change
  const cause = ({ status }: PodGang) => findCondition(status?.conditions, conditionType.podGangScheduled)
  const [was, is] = [cause(before), cause(after)]
  return (
    before.status?.phase !== after.status?.phase ||
    was?.status !== is?.status ||
    was?.reason !== is?.reason ||
    was?.message !== is?.message
  )
}

export function changesStatus(change: Change<KubeObject & { readonly status?: unknown }>): boolean {
  return change.type === 'update' && !sameMeaning(change.old.status, change.new.status)
}

export function setOfChild(change: Change<KubeObject>): SetKey[] {
  return affectsParent(change) ? setsOf(change) : []
}

/** The set that a child belongs to, and the set that it belonged to before its label was edited. */
export function setsOf(change: Change<KubeObject>): SetKey[] {
  const { namespace } = (change.new ?? change.old).metadata
  const names = new Set([change.new, change.old].map(object => object?.metadata.labels?.[label.partOf]))
  return [...names].flatMap(name => (namespace && name ? [setKey({ namespace, name })] : []))
}

/**
 * Another client edited or deleted a Service, an autoscaler or another child of a kind of Kubernetes. Statuses and
 * annotations of these kinds belong to other clients.
 */
export function isEditedOrDeleted(change: Change<KubeObject>): boolean {
  if (change.type !== 'update') return change.type === 'delete'
  const { metadata: before, status: _, ...was } = change.old as Stored<KubeObject> & { status?: unknown }
  const { metadata: after, status: __, ...is } = change.new as Stored<KubeObject> & { status?: unknown }
  return changesOwner(change) || !sameMeaning(before.labels, after.labels) || !sameMeaning(was, is)
}

/** An object without a controller is adopted. One with another controller is reported. */
export function changesOwner(change: Change<KubeObject>): boolean {
  return (
    change.type === 'update' &&
    !sameMeaning(change.old.metadata.ownerReferences, change.new.metadata.ownerReferences)
  )
}

/** A change of a child that may affect the status or the children of its parent. */
function affectsParent(change: Change<KubeObject & { status?: unknown; spec?: unknown }>): boolean {
  if (change.type !== 'update') return true
  return (
    change.old.metadata.generation !== change.new.metadata.generation ||
    change.old.metadata.deletionTimestamp !== change.new.metadata.deletionTimestamp ||
    changesOwner(change) ||
    !sameMeaning(change.old.status, change.new.status) ||
    !sameMeaning(change.old.metadata.labels, change.new.metadata.labels) ||
    !sameMeaning(change.old.metadata.annotations, change.new.metadata.annotations)
  )
}

/** Also reacts if the label by which the group is found was edited. */
export function memberOfGroup(change: Change<PodClique>): GroupKey[] {
  if (!affectsParent(change) && sameMeaning(change.old?.metadata.labels, change.new?.metadata.labels))
    return []
  const keys = [change.old, change.new].flatMap(clique => {
    const group = clique?.metadata.labels?.[label.scalingGroup]
    return group ? [groupKey({ namespace: clique?.metadata.namespace, name: group })] : []
  })
  return [...new Set(keys)]
}

/** The clique that controls the pod, and the one that controlled it before the change. */
export function ownersOfPod(change: Change<Pod>): CliqueKey[] {
  const keys = [change.old, change.new].flatMap(pod => {
    const owner = pod?.metadata.ownerReferences?.find(reference => reference.controller)
    return owner ? [cliqueKey({ namespace: pod?.metadata.namespace, name: owner.name })] : []
  })
  return [...new Set(keys)]
}
