// SPDX-License-Identifier: Apache-2.0
import type { Node, ObjectMeta, Pod } from '@grove/api'
import { ClaimedDevices } from '../devices/claimed-devices.ts'
import { claimKey } from '../devices/pod-claims.ts'
import { cordonTaint } from '../filters/taints.ts'
import { canonicalText, compareText, sortedRecord } from '../order.ts'
import type { Snapshot, SnapshotNode, SnapshotObjects, SnapshotOptions, SnapshotPod } from '../types.ts'
import { gangFrom, inPlanningOrder } from './gangs.ts'
import { remember, sortedBoundPods, sortedNodes, unchangedPods } from './incremental.ts'
import { compareByName, hasResourceClaims, snapshotPod } from './pods.ts'
import { holdsResources, mostOnNode, readAmounts } from './requests.ts'

export const defaultSchedulerName = 'grove-scheduler'

/** Builds the snapshot of a cluster. Equal clusters give equal snapshots, whatever the order of the lists. */
export function snapshotFrom(objects: SnapshotObjects, options: SnapshotOptions = {}): Snapshot {
  const { schedulerName = defaultSchedulerName, assumed = [], formerNodes, previous, claimingPods } = options
  const assumedNodes = new Map(
    assumed.map(pod => [`${pod.namespace}/${pod.name}/${pod.uid ?? ''}`, pod.node]),
  )
  const storage = {
    claims: byKey(
      objects.persistentVolumeClaims,
      ({ metadata }) => `${metadata.namespace ?? 'default'}/${metadata.name}`,
    ),
    volumes: byKey(objects.persistentVolumes, ({ metadata }) => metadata.name),
    classes: byKey(objects.storageClasses, ({ metadata }) => metadata.name),
  }
  const devices = claimedDevices(objects, claimingPods ?? [], nodeOf)
  const made: (SnapshotPod | undefined)[] = []
  const unchanged = unchangedPods(previous)
  const ours = new Map<string, SnapshotPod[]>()
  for (const pod of objects.pods) {
    const member =
      unchanged(pod) ?? (holdsResources(pod) ? snapshotPod(pod, nodeOf(pod), storage, devices) : undefined)
    made.push(member)
    if (!member) continue
    const isLive = !member.terminating
    if (!isLive || pod.spec.schedulerName !== schedulerName || member.gang === undefined) continue
    const key = `${member.namespace}/${member.gang}`
    const members = ours.get(key)
    if (members) members.push(member)
    else ours.set(key, [member])
  }
  const context = {
    bindings: byKey(objects.topologyBindings, ({ metadata }) => metadata.name),
    priorityClasses: objects.priorityClasses ?? [],
  }
  // Pods of a gang that is replaced may still terminate, so they are no members any more.
  const reused = new Set(
    objects.podGangs.flatMap(({ spec, metadata }) =>
      spec.reuseReservationRef
        ? `${spec.reuseReservationRef.namespace || metadata.namespace || 'default'}/${spec.reuseReservationRef.name}`
        : [],
    ),
  )
  const nodesOfReused = new Map<string, string[]>()
  if (reused.size > 0)
    for (const pod of made) {
      const key = `${pod?.namespace}/${pod?.gang}`
      if (pod?.node === undefined || !reused.has(key)) continue
      nodesOfReused
        .set(key, nodesOfReused.get(key) ?? [])
        .get(key)!
        .push(pod.node)
    }
  const gangs = objects.podGangs.flatMap(podGang => {
    const key = `${podGang.metadata.namespace ?? 'default'}/${podGang.metadata.name}`
    const members = ours.get(key) ?? []
    ours.delete(key)
    // Its pods are deleted next. They hold their resources until then, but need no others.
    if (podGang.metadata.deletionTimestamp) return []
    const { reuseReservationRef: ref } = podGang.spec
    const known = [
      ...(formerNodes?.get(key) ?? []),
      ...(ref
        ? (nodesOfReused.get(`${ref.namespace || podGang.metadata.namespace || 'default'}/${ref.name}`) ?? [])
        : []),
    ]
    return gangFrom(podGang, members, context, [...new Set(known)].sort(compareText))
  })
  const nodes = sortedNodes(objects.nodes, snapshotNode, previous, devices?.offered)
  const snapshot: Snapshot = {
    nodes,
    boundPods: sortedBoundPods(objects.pods, made, nodes, previous),
    gangs: inPlanningOrder(gangs),
    strayPods: [...ours.values()]
      .flat()
      .filter(({ node }) => node === undefined)
      .sort(compareByName),
    namespaceLabels: new Map(
      (objects.namespaces ?? [])
        .map(({ metadata }) => [metadata.name, sortedRecord(metadata.labels ?? {})] as const)
        .sort(([left], [right]) => compareText(left, right)),
    ),
    disruptionBudgets: (objects.podDisruptionBudgets ?? [])
      .map(({ metadata, spec, status }) => ({
        namespace: metadata.namespace ?? 'default',
        name: metadata.name,
        selector: spec?.selector,
        allowed: status?.disruptionsAllowed ?? 0,
      }))
      .sort(compareByName),
    freeDevices: devices?.free ?? noDevices,
  }
  return remember(snapshot, { nodes: objects.nodes, offered: devices?.offered, pods: objects.pods, made })

  function nodeOf({ metadata, spec }: Pod): string | undefined {
    if (spec.nodeName) return spec.nodeName
    const name = `${metadata.namespace ?? 'default'}/${metadata.name}`
    return assumedNodes.get(`${name}/${metadata.uid ?? ''}`) ?? assumedNodes.get(`${name}/`)
  }
}

const noDevices: Snapshot['freeDevices'] = new Map()

/** Undefined if no pod has resource claims, so that clusters without them pay nothing. */
function claimedDevices(
  objects: SnapshotObjects,
  others: readonly Pod[],
  nodeOf: (pod: Pod) => string | undefined,
): ClaimedDevices | undefined {
  const pods = [...objects.pods, ...others].filter(pod => hasResourceClaims(pod) && holdsResources(pod))
  if (pods.length === 0) return undefined
  const byName = ({ metadata }: { readonly metadata: ObjectMeta }) =>
    claimKey(metadata.namespace, metadata.name)
  return new ClaimedDevices(
    {
      claims: byKey(objects.resourceClaims, byName),
      templates: byKey(objects.resourceClaimTemplates, byName),
      classes: byKey(objects.deviceClasses, ({ metadata }) => metadata.name),
      slices: objects.resourceSlices ?? [],
    },
    pods
      .map(pod => ({ pod, node: nodeOf(pod) }))
      .sort((left, right) => compareText(byName(left.pod), byName(right.pod))),
  )
}

const knownNodes = new WeakMap<Node, SnapshotNode>()

/** Watch caches replace an object when it changes, so a cycle reads only the nodes that changed since the last one. */
function snapshotNode(node: Node): SnapshotNode {
  let known = knownNodes.get(node)
  if (!known) {
    known = newSnapshotNode(node)
    knownNodes.set(node, known)
  }
  return known
}

function newSnapshotNode({ metadata, spec, status }: Node): SnapshotNode {
  const unschedulable = spec?.unschedulable ?? false
  return {
    name: metadata.name,
    labels: sortedRecord(metadata.labels ?? {}),
    allocatable: sortedRecord(readAmounts(status?.allocatable, mostOnNode)),
    // Kubernetes taints cordoned nodes and removes the taint with the cordon, so both are one obstacle.
    taints: (spec?.taints ?? [])
      .filter(({ key, effect }) => !unschedulable || key !== cordonTaint.key || effect !== cordonTaint.effect)
      .map(({ key, value, effect }) => ({ key, effect, ...(value ? { value } : {}) }))
      .sort((left, right) => compareText(canonicalText(left), canonicalText(right))),
    unschedulable,
  }
}

function byKey<Item>(items: readonly Item[] | undefined, key: (item: Item) => string): Map<string, Item> {
  return new Map((items ?? []).map(item => [key(item), item]))
}
