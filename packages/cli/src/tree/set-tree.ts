// SPDX-License-Identifier: Apache-2.0

// A set with everything below it, as lines of text: what it consists of, how much of it is ready, what waits.
import {
  label,
  type Pod,
  type PodClique,
  type PodCliqueScalingGroup,
  type PodCliqueSet,
  type PodGang,
} from '@grove/api'

export interface SetObjects {
  readonly set: PodCliqueSet
  readonly groups: readonly PodCliqueScalingGroup[]
  readonly cliques: readonly PodClique[]
  readonly gangs: readonly PodGang[]
  readonly pods: readonly Pod[]
}

export interface Paint {
  good(text: string): string
  waiting(text: string): string
  bad(text: string): string
  faint(text: string): string
}

export const plain: Paint = { good: same, waiting: same, bad: same, faint: same }

/** Terminal colours. */
export const coloured: Paint = {
  good: text => `\x1b[32m${text}\x1b[0m`,
  waiting: text => `\x1b[33m${text}\x1b[0m`,
  bad: text => `\x1b[31m${text}\x1b[0m`,
  faint: text => `\x1b[2m${text}\x1b[0m`,
}

function same(text: string): string {
  return text
}

interface Line {
  readonly text: string
  readonly children: readonly Line[]
}

export function treeLines(objects: SetObjects, paint: Paint = plain): string[] {
  const { set, groups, cliques, gangs, pods } = objects
  const { replicas = 0 } = set.spec
  const available = set.status?.availableReplicas ?? 0
  const root: Line = {
    text: `PodCliqueSet ${set.metadata.name}  ${share(available, replicas, 'available', paint)}`,
    children: Array.from({ length: replicas }, (_, index) =>
      replicaLine(index, { set, groups, cliques, gangs, pods }, paint),
    ),
  }
  return drawn(root)
}

function replicaLine(index: number, objects: SetObjects, paint: Paint): Line {
  const own = <T extends { metadata: { labels?: Record<string, string> } }>(list: readonly T[]) =>
    list.filter(object => object.metadata.labels?.[label.setReplicaIndex] === String(index))
  const cliques = own(objects.cliques)
  const standalone = cliques.filter(clique => !clique.metadata.labels?.[label.scalingGroup])
  const name = `${objects.set.metadata.name}-${index}`
  return {
    text: `replica ${index}  ${gangNote(objects.gangs, name, paint)}`,
    children: [
      ...standalone.sort(byName).map(clique => cliqueLine(clique, objects.pods, paint)),
      ...own(objects.groups)
        .sort(byName)
        .map(group => groupLine(group, cliques, objects, paint)),
    ],
  }
}

function groupLine(
  group: PodCliqueScalingGroup,
  cliques: readonly PodClique[],
  objects: SetObjects,
  paint: Paint,
): Line {
  const members = cliques.filter(
    clique => clique.metadata.labels?.[label.scalingGroup] === group.metadata.name,
  )
  return {
    text: `PodCliqueScalingGroup ${group.metadata.name}  ${share(group.status?.availableReplicas ?? 0, group.spec.replicas, 'available', paint)}`,
    children: Array.from({ length: group.spec.replicas }, (_, index) => {
      const own = members.filter(
        clique => clique.metadata.labels?.[label.scalingGroupReplicaIndex] === String(index),
      )
      const isScaled = own.some(clique => clique.metadata.labels?.[label.basePodGang])
      const gang = own[0]?.metadata.labels?.[label.podGang] ?? ''
      return {
        text: `group replica ${index}  ${isScaled ? gangNote(objects.gangs, gang, paint) : paint.faint('in the base gang')}`,
        children: own.sort(byName).map(clique => cliqueLine(clique, objects.pods, paint)),
      }
    }),
  }
}

function cliqueLine(clique: PodClique, pods: readonly Pod[], paint: Paint): Line {
  const own = pods.filter(pod => pod.metadata.labels?.[label.podClique] === clique.metadata.name)
  const ready = clique.status?.readyReplicas ?? 0
  const notes = own.map(podNote).filter(note => note !== undefined)
  const waits = notes.length ? `  ${paint.waiting(counted(notes))}` : ''
  return {
    text: `PodClique ${clique.metadata.name}  ${share(ready, clique.spec.replicas, 'ready', paint)}${waits}`,
    children: [],
  }
}

function gangNote(gangs: readonly PodGang[], name: string, paint: Paint): string {
  const gang = gangs.find(candidate => candidate.metadata.name === name)
  if (!gang) return paint.waiting(`PodGang ${name} not there yet`)
  const complete = gang.status?.conditions?.some(
    ({ type, status }) => type === 'Initialized' && status === 'True',
  )
  return complete ? paint.faint(`PodGang ${name}`) : paint.waiting(`PodGang ${name} waits for its pods`)
}

/** What a pod waits for or suffers from; nothing for a ready one. */
function podNote(pod: Pod): string | undefined {
  if (pod.metadata.deletionTimestamp) return 'terminating'
  if (pod.spec?.schedulingGates?.length) return 'gated'
  const conditions = pod.status?.conditions ?? []
  if (conditions.some(({ type, status }) => type === 'Ready' && status === 'True')) return undefined
  const scheduled = conditions.find(({ type }) => type === 'PodScheduled')
  if (scheduled?.status !== 'True')
    return scheduled?.reason === 'Unschedulable' ? 'unschedulable' : 'unscheduled'
  return pod.status?.phase === 'Failed' ? 'failed' : 'starting'
}

function counted(notes: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const note of notes) counts.set(note, (counts.get(note) ?? 0) + 1)
  return [...counts].map(([note, count]) => `${count} ${note}`).join(', ')
}

function share(have: number, want: number, word: string, paint: Paint): string {
  const text = `${have}/${want} ${word}`
  return have >= want ? paint.good(text) : have === 0 ? paint.bad(text) : paint.waiting(text)
}

function byName(a: { metadata: { name: string } }, b: { metadata: { name: string } }): number {
  return a.metadata.name < b.metadata.name ? -1 : 1
}

function drawn(line: Line, indent = '', branch = ''): string[] {
  const below = branch === '' ? '' : branch.startsWith('└') ? `${indent}   ` : `${indent}│  `
  return [
    `${indent}${branch}${line.text}`,
    ...line.children.flatMap((child, at) =>
      drawn(child, below, at === line.children.length - 1 ? '└─ ' : '├─ '),
    ),
  ]
}
