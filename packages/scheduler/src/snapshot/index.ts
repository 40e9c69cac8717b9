// SPDX-License-Identifier: Apache-2.0
import type { Node, Pod } from '@grove/api'
import { canonicalText, compareText, sortedRecord } from '../order.ts'
import type { Snapshot, SnapshotNode, SnapshotObjects, SnapshotOptions, SnapshotPod } from '../types.ts'
import { compareGangs, gangFrom } from './gangs.ts'
import { compareByName, snapshotPod } from './pods.ts'
import { holdsResources, readAmounts } from './requests.ts'

export const defaultSchedulerName = 'grove-scheduler'

/** Builds the snapshot of a cluster. Equal clusters give equal snapshots, whatever the order of the lists. */
export function snapshotFrom(objects: SnapshotObjects, options: SnapshotOptions = {}): Snapshot {
  const { schedulerName = defaultSchedulerName, assumed = [] } = options
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
  const boundPods: SnapshotPod[] = []
  const ours = new Map<string, SnapshotPod[]>()
  for (const pod of objects.pods) {
    if (!holdsResources(pod)) continue
    const member = snapshotPod(pod, nodeOf(pod), storage)
    if (member.node !== undefined) boundPods.push(member)
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
  const gangs = objects.podGangs.map(podGang => {
    const key = `${podGang.metadata.namespace ?? 'default'}/${podGang.metadata.name}`
    const members = ours.get(key) ?? []
    ours.delete(key)
    return gangFrom(podGang, members, context)
  })
  return {
    nodes: objects.nodes.map(snapshotNode).sort((left, right) => compareText(left.name, right.name)),
    boundPods: boundPods.sort(compareByName),
    gangs: gangs.sort(compareGangs),
    strayPods: [...ours.values()]
      .flat()
      .filter(({ node }) => node === undefined)
      .sort(compareByName),
    namespaceLabels: new Map(
      (objects.namespaces ?? [])
        .map(({ metadata }) => [metadata.name, sortedRecord(metadata.labels ?? {})] as const)
        .sort(([left], [right]) => compareText(left, right)),
    ),
  }

  function nodeOf({ metadata, spec }: Pod): string | undefined {
    if (spec.nodeName) return spec.nodeName
    const name = `${metadata.namespace ?? 'default'}/${metadata.name}`
    return assumedNodes.get(`${name}/${metadata.uid ?? ''}`) ?? assumedNodes.get(`${name}/`)
  }
}

function snapshotNode({ metadata, spec, status }: Node): SnapshotNode {
  return {
    name: metadata.name,
    labels: sortedRecord(metadata.labels ?? {}),
    allocatable: sortedRecord(readAmounts(status?.allocatable)),
    taints: (spec?.taints ?? [])
      .map(({ key, value, effect }) => ({ key, effect, ...(value ? { value } : {}) }))
      .sort((left, right) => compareText(canonicalText(left), canonicalText(right))),
    unschedulable: spec?.unschedulable ?? false,
  }
}

function byKey<Item>(items: readonly Item[] | undefined, key: (item: Item) => string): Map<string, Item> {
  return new Map((items ?? []).map(item => [key(item), item]))
}
