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
import { eachReplica, scalingGroups, standaloneClique, standaloneTemplates } from '../layout/layout.ts'
import type { StoredSet } from '../layout/stored.ts'
import { autoscalers } from '../objects/autoscaler.ts'
import { podClique } from '../objects/clique.ts'
import { headlessService } from '../objects/headless-service.ts'
import { podCliqueScalingGroup } from '../objects/scaling-group.ts'
import type { WantedChild } from '../objects/wanted-child.ts'

export function* wantedServices(set: StoredSet): Generator<WantedChild<Service>> {
  for (const replica of eachReplica(set))
    yield { name: names.replica(set.metadata.name, replica), build: () => headlessService(set, replica) }
}

export function* wantedAutoscalers(set: StoredSet): Generator<WantedChild<HorizontalPodAutoscaler>> {
  for (const replica of eachReplica(set)) yield* autoscalers(set, replica)
}

export function* wantedCliques(
  set: StoredSet,
  hashes: Readonly<Record<string, string>>,
  scaled: (clique: PodClique) => PodClique = clique => clique,
): Generator<WantedChild<PodClique>> {
  const templates = standaloneTemplates(set)
  for (const replica of eachReplica(set))
    for (const template of templates) {
      const instance = standaloneClique(set, replica, template)
      yield {
        name: instance.name,
        build: () => scaled(podClique(set, instance, set, hashes[template.name] ?? '')),
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

export function* wantedScalingGroups(set: StoredSet): Generator<WantedChild<PodCliqueScalingGroup>> {
  for (const replica of eachReplica(set))
    for (const instance of scalingGroups(set, replica))
      yield { name: instance.name, build: () => podCliqueScalingGroup(set, instance) }
}
