// SPDX-License-Identifier: Apache-2.0

// The children of every kind that a PodCliqueSet wants.
import {
  type HorizontalPodAutoscaler,
  kinds,
  names,
  type PodClique,
  type PodCliqueScalingGroup,
  type Service,
} from '@grove/api'
import type { Caches } from '../caches/caches.ts'
import { setReplicaOf } from '../layout/clique-instance.ts'
import {
  eachReplica,
  replicaCount,
  scalingGroups,
  standaloneClique,
  standaloneTemplates,
} from '../layout/layout.ts'
import type { StoredSet } from '../layout/stored.ts'
import { autoscalers } from '../objects/autoscaler.ts'
import { podClique } from '../objects/clique.ts'
import { headlessService } from '../objects/headless-service.ts'
import { podCliqueScalingGroup } from '../objects/scaling-group.ts'
import type { WantedChild } from '../objects/wanted-child.ts'

/** Replicas that a set creates at once when it has none. */
const firstReplicas = 64

/** Each slice of replicas ends at this multiple of the existing ones. More slices would delay the last pods of large sets. */
const growth = 8

/**
 * The index below which missing children are created. It grows as replicas come into being, so that a quota which rejects
 * cliques or groups leaves few Services without them.
 */
export function replicasToCreate(
  set: StoredSet,
  { cliques, groups }: Pick<Caches, 'cliques' | 'groups'>,
): number {
  let existing = 0
  for (const parents of [cliques, groups])
    for (const parent of parents.byIndex('controller', set.metadata.uid))
      existing = Math.max(existing, (setReplicaOf(parent) ?? -1) + 1)
  return Math.min(replicaCount(set), Math.max(firstReplicas, growth * existing))
}

/** Reports whether missing children of a replica are created later. */
export type IsLater = (replica: number) => boolean

const allNow: IsLater = () => false

export function* wantedServices(set: StoredSet, isLater = allNow): Generator<WantedChild<Service>> {
  for (const replica of eachReplica(set))
    yield {
      name: names.replica(set.metadata.name, replica),
      build: () => headlessService(set, replica),
      isLater: isLater(replica),
    }
}

export function* wantedAutoscalers(
  set: StoredSet,
  isLater = allNow,
): Generator<WantedChild<HorizontalPodAutoscaler>> {
  for (const replica of eachReplica(set))
    for (const wanted of autoscalers(set, replica)) yield { ...wanted, isLater: isLater(replica) }
}

export function* wantedCliques(
  set: StoredSet,
  hashes: Readonly<Record<string, string>>,
  scaled: (clique: PodClique) => PodClique = clique => clique,
  isLater = allNow,
): Generator<WantedChild<PodClique>> {
  const templates = standaloneTemplates(set)
  for (const replica of eachReplica(set))
    for (const template of templates) {
      const instance = standaloneClique(set, replica, template)
      yield {
        name: instance.name,
        build: () => scaled(podClique(set, instance, set, hashes[template.name] ?? '')),
        isLater: isLater(replica),
      }
    }
}

/** A clique that is recreated after a termination keeps its replicas, or gets those that its autoscaler set last. */
export function asScaled(
  autoscalers: readonly HorizontalPodAutoscaler[],
  before: Readonly<Record<string, number>>,
): (clique: PodClique) => PodClique {
  const wanted = new Map(
    autoscalers
      .filter(({ spec }) => spec?.scaleTargetRef.kind === kinds.podClique.kind)
      .map(({ spec, status }) => [spec!.scaleTargetRef.name, status?.desiredReplicas ?? 0]),
  )
  return clique => {
    const { name } = clique.metadata
    const replicas = before[name] ?? (wanted.get(name) || clique.spec.replicas)
    return { ...clique, spec: { ...clique.spec, replicas } }
  }
}

export function* wantedScalingGroups(
  set: StoredSet,
  isLater = allNow,
): Generator<WantedChild<PodCliqueScalingGroup>> {
  for (const replica of eachReplica(set))
    for (const instance of scalingGroups(set, replica))
      yield {
        name: instance.name,
        build: () => podCliqueScalingGroup(set, instance),
        isLater: isLater(replica),
      }
}
