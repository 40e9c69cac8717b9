// SPDX-License-Identifier: Apache-2.0

// Invariants of every converged set. Each violation is a sentence; a correct set has none.
import { annotation, conditionType, label, type Pod, type PodClique, podSchedulingGate } from '@grove/api'
import type { KubeObject, Stored } from '@grove/kube'
import { isReady } from '../harness.ts'
import { differences } from './differences.ts'
import { expectedObjects, identityOf } from './expected.ts'
import type { Model } from './model.ts'
import { type Observed, podsOf } from './observed.ts'
import { hashOf, isUpToDate, wantedHash } from './revisions.ts'
import { statusViolations } from './statuses.ts'

export function violations(seen: Observed, model: Model): string[] {
  return [
    ...objectViolations(seen, model),
    ...seen.cliques.flatMap(clique => indexViolations(seen, clique)),
    ...seen.gangs.flatMap(gang => gangViolations(seen, gang.metadata.name)),
    ...gateViolations(seen),
    ...statusViolations(seen),
    ...updateViolations(seen, model),
  ]
}

/** The live objects are exactly the rendered objects. */
function objectViolations(seen: Observed, model: Model): string[] {
  const places = new Map(seen.cliques.flatMap(clique => placesIn(seen, clique)))
  const live = new Map<string, KubeObject>()
  const found: string[] = []
  for (const child of seen.children) {
    const comparable = inPlace(child, places)
    const id = identityOf(comparable)
    if (live.has(id)) found.push(`there are two of ${id}`)
    live.set(id, comparable)
  }
  for (const wanted of expectedObjects(seen, model)) {
    const id = identityOf(wanted)
    const actual = live.get(id)
    if (!actual) found.push(`${id} is missing`)
    else if (!mayBeOutdated(seen, model, actual))
      found.push(...differences(wanted, actual).map(difference => `${id}: ${difference}`))
    live.delete(id)
  }
  for (const id of live.keys()) found.push(`${id} exists but is not expected`)
  return found
}

/** After OnDelete, outdated pods stay, and so do members of groups if an update did not reach them. */
function mayBeOutdated(seen: Observed, model: Model, object: KubeObject): boolean {
  const { name = '', labels } = object.metadata ?? {}
  if (!model.mayHaveOutdatedPods) return false
  if (object.kind === 'Pod')
    return hashOf(object) !== wantedHash(seen, labels?.[label.podClique] ?? '', labels)
  const isMember = object.kind === 'PodClique' && labels?.[label.scalingGroup] !== undefined
  const isPatched = seen.set.spec.updateStrategy?.type === 'OnDelete'
  return isMember && !isPatched && hashOf(object) !== wantedHash(seen, name, labels)
}

/** Every update ends, and leaves outdated pods only with OnDelete. */
function updateViolations(seen: Observed, model: Model): string[] {
  const running = [...seen.cliques, ...seen.groups, seen.set].filter(
    ({ status }) => status?.updateProgress && !status.updateProgress.updateEndedAt,
  )
  const outdated = model.mayHaveOutdatedPods ? [] : seen.cliques.filter(clique => !isUpToDate(seen, clique))
  return [
    ...running.map(({ metadata }) => `${metadata.name} is still being updated`),
    ...outdated.map(({ metadata }) => `${metadata.name} is outdated`),
  ]
}

/**
 * Pods are renamed to their rank in their clique, which does not depend on random names. Pod references in gangs too.
 */
function inPlace(object: Stored<KubeObject>, places: ReadonlyMap<string, Place>): KubeObject {
  const renamed = structuredClone(object) as KubeObject & {
    metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> }
    spec?: { hostname?: string; podgroups?: { podReferences: { name: string }[] }[] }
  }
  const place = renamed.kind === 'Pod' ? places.get(renamed.metadata.name) : undefined
  if (place) {
    renamed.metadata.name = place.hostname
    renamed.metadata.labels = { ...withoutNodeLabels(renamed), [label.podIndex]: String(place.rank) }
    renamed.spec!.hostname = place.hostname
    // The number of failed predecessors does not follow from the set.
    if (renamed.metadata.annotations) delete renamed.metadata.annotations[annotation.consecutiveFailures]
  }
  for (const group of renamed.spec?.podgroups ?? []) {
    for (const reference of group.podReferences)
      reference.name = places.get(reference.name)?.hostname ?? `${reference.name} (gone)`
    group.podReferences.sort((a, b) => (a.name < b.name ? -1 : 1))
  }
  return renamed
}

/** The API server copies zone and region of the node to a pod that is bound. */
function withoutNodeLabels({ metadata }: KubeObject): Record<string, string> {
  return Object.fromEntries(
    Object.entries(metadata?.labels ?? {}).filter(([key]) => !key.startsWith('topology.kubernetes.io/')),
  )
}

interface Place {
  readonly rank: number
  readonly hostname: string
}

const indexOf = ({ metadata }: Pod) => Number(metadata.labels?.[label.podIndex])

/** Orders pods by name. Scale-in deletes the youngest pods first and may leave holes in the indexes. */
function placesIn(seen: Observed, { metadata }: Stored<PodClique>): [pod: string, place: Place][] {
  return podsOf(seen, metadata.name)
    .sort((a, b) => indexOf(a) - indexOf(b))
    .map((pod, rank) => [pod.metadata.name, { rank, hostname: `${metadata.name}-${rank}` }])
}

function indexViolations(seen: Observed, { metadata }: Stored<PodClique>): string[] {
  const pods = podsOf(seen, metadata.name)
  const twice = pods.filter((pod, at) => pods.findIndex(other => indexOf(other) === indexOf(pod)) !== at)
  const misnamed = pods.filter(pod => pod.spec?.hostname !== `${metadata.name}-${indexOf(pod)}`)
  return [
    ...twice.map(pod => `${metadata.name} has two pods of the index ${indexOf(pod)}`),
    ...misnamed.map(
      pod => `${pod.metadata.name} has the index ${indexOf(pod)} and is called ${pod.spec?.hostname}`,
    ),
  ]
}

function gangViolations(seen: Observed, name: string): string[] {
  const gang = seen.gangs.find(({ metadata }) => metadata.name === name)!
  const lacking = gang.spec.podgroups.filter(
    group => !seen.cliques.some(({ metadata }) => metadata.name === group.name),
  )
  const initialized = gang.status?.conditions?.find(({ type }) => type === conditionType.podGangInitialized)
  return lacking.length === 0 && initialized?.status !== 'True'
    ? [`PodGang ${name} is complete and not Initialized`]
    : []
}

/** Gates are removed, unless the gang or its base gang is scaled below its minimum. */
function gateViolations(seen: Observed): string[] {
  const sizes = new Map(seen.cliques.map(({ metadata, spec }) => [metadata.name, spec.replicas]))
  const small = new Set(
    seen.gangs
      .filter(({ spec }) => spec.podgroups.some(group => (sizes.get(group.name) ?? 0) < group.minReplicas))
      .map(({ metadata }) => metadata.name),
  )
  const mayWait = ({ metadata: { labels } }: Pod) =>
    small.has(labels?.[label.basePodGang] ?? '') || small.has(labels?.[label.podGang] ?? '')
  return seen.pods.flatMap(pod => {
    const gated = pod.spec?.schedulingGates?.some(({ name }) => name === podSchedulingGate)
    if (gated) return mayWait(pod) ? [] : [`${pod.metadata.name} still has its gate`]
    return isReady(pod) ? [] : [`${pod.metadata.name} is not ready`]
  })
}
