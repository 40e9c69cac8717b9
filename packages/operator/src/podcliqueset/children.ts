// SPDX-License-Identifier: Apache-2.0

// What a PodCliqueSet wants of every kind of child, and which of their fields stay ours after creation.
import {
  type HorizontalPodAutoscaler,
  kinds,
  names,
  type PodClique,
  type PodCliqueScalingGroup,
  type Role,
  type RoleBinding,
  type Service,
  type ServiceAccount,
} from '@grove/api'
import type { Stored } from '@grove/kube'
import { combine, type MergePatch, metadataPatch, type WantedChild } from '../child-objects.ts'
import { eachReplica, scalingGroups, standaloneClique, standaloneTemplates } from '../layout.ts'
import { autoscalers } from '../objects/autoscaler.ts'
import { podClique } from '../objects/clique.ts'
import { headlessService } from '../objects/headless-service.ts'
import { podCliqueScalingGroup } from '../objects/scaling-group.ts'
import { patchMembers, podSpecPatch, sameMeaning } from '../owned-fields.ts'
import type { StoredSet } from '../stored.ts'
import { sameMetrics } from './autoscaler-metrics.ts'

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

/** A clique that is made again after a termination has as many pods as before, or as its autoscaler wanted last. */
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

export function patchServiceAccount(
  existing: Stored<ServiceAccount>,
  wanted: ServiceAccount,
): MergePatch | undefined {
  return combine(
    metadataPatch(existing, wanted, ['labels']),
    patchMembers(existing, wanted, ['automountServiceAccountToken']),
  )
}

export function patchRole(existing: Stored<Role>, wanted: Role): MergePatch | undefined {
  return combine(metadataPatch(existing, wanted, ['labels']), patchMembers(existing, wanted, ['rules']))
}

/** The role that a binding refers to cannot be changed. */
export function bindsAnotherRole(existing: RoleBinding, wanted: RoleBinding): boolean {
  return !sameMeaning(existing.roleRef, wanted.roleRef)
}

export function patchRoleBinding(existing: Stored<RoleBinding>, wanted: RoleBinding): MergePatch | undefined {
  return combine(metadataPatch(existing, wanted, ['labels']), patchMembers(existing, wanted, ['subjects']))
}

export function patchService(existing: Stored<Service>, wanted: Service): MergePatch | undefined {
  const spec = patchMembers(existing.spec, wanted.spec, ['selector', 'publishNotReadyAddresses'])
  return combine(metadataPatch(existing, wanted, ['labels']), spec && { spec })
}

/** Metrics only where the set names some: without any the API server chooses. Behaviour belongs to the user. */
export function patchAutoscaler(
  existing: Stored<HorizontalPodAutoscaler>,
  wanted: HorizontalPodAutoscaler,
): MergePatch | undefined {
  const metrics = wanted.spec?.metrics
  const members = [
    'minReplicas',
    'maxReplicas',
    'scaleTargetRef',
    ...(metrics && !sameMetrics(existing.spec?.metrics, metrics) ? ['metrics'] : []),
  ]
  const spec = patchMembers(existing.spec, wanted.spec, members)
  return combine(metadataPatch(existing, wanted, ['labels']), spec && { spec })
}

/** Everything but the replica count, which belongs to whoever scales the clique. */
export function patchClique(existing: Stored<PodClique>, wanted: PodClique): MergePatch | undefined {
  const members = patchMembers(existing.spec, wanted.spec, [
    'roleName',
    'minAvailable',
    'startsAfter',
    'autoScalingConfig',
  ])
  const podSpec = podSpecPatch(existing.spec.podSpec, wanted.spec.podSpec)
  const spec = (members || podSpec) && { ...members, ...(podSpec && { podSpec }) }
  return combine(metadataPatch(existing, wanted, ['labels', 'annotations']), spec && { spec })
}

/** What a clique that an update has not reached may follow already: what is no part of its pods' template. */
export function patchHeldClique(existing: Stored<PodClique>, wanted: PodClique): MergePatch | undefined {
  const spec = patchMembers(existing.spec, wanted.spec, ['minAvailable', 'autoScalingConfig'])
  return spec && { spec }
}

/** Everything but the replica count, which belongs to whoever scales the group. */
export function patchScalingGroup(
  existing: Stored<PodCliqueScalingGroup>,
  wanted: PodCliqueScalingGroup,
): MergePatch | undefined {
  const spec = patchMembers(existing.spec, wanted.spec, ['minAvailable', 'cliqueNames'])
  return combine(metadataPatch(existing, wanted, ['labels', 'annotations']), spec && { spec })
}
