// SPDX-License-Identifier: Apache-2.0

// What a PodCliqueSet wants of every kind of child, and which of their fields stay ours after creation.
import {
  type HorizontalPodAutoscaler,
  kinds,
  type PodClique,
  type PodCliqueScalingGroup,
  type Role,
  type RoleBinding,
  type Service,
  type ServiceAccount,
} from '@grove/api'
import type { Stored } from '@grove/kube'
import { combine, type MergePatch, metadataPatch } from '../child-objects.ts'
import { replicaIndexes, scalingGroups, standaloneCliques } from '../layout.ts'
import { autoscalers } from '../objects/autoscaler.ts'
import { podClique } from '../objects/clique.ts'
import { headlessService } from '../objects/headless-service.ts'
import { podCliqueScalingGroup } from '../objects/scaling-group.ts'
import { patchMembers, sameMeaning } from '../owned-fields.ts'
import type { StoredSet } from '../stored.ts'
import { sameMetrics } from './autoscaler-metrics.ts'

export function wantedServices(set: StoredSet): Service[] {
  return replicaIndexes(set).map(replica => headlessService(set, replica))
}

export function wantedAutoscalers(set: StoredSet): HorizontalPodAutoscaler[] {
  return replicaIndexes(set).flatMap(replica => autoscalers(set, replica))
}

export function wantedCliques(set: StoredSet, hashes: Readonly<Record<string, string>>): PodClique[] {
  return replicaIndexes(set).flatMap(replica =>
    standaloneCliques(set, replica).map(instance =>
      podClique(set, instance, set, hashes[instance.template.name] ?? ''),
    ),
  )
}

/** A clique that is made again after a termination has as many pods as before, or as its autoscaler wanted last. */
export function asScaled(
  cliques: readonly PodClique[],
  autoscalers: readonly HorizontalPodAutoscaler[],
  before: Readonly<Record<string, number>>,
): PodClique[] {
  const wanted = new Map(
    autoscalers
      .filter(({ spec }) => spec?.scaleTargetRef.kind === kinds.podClique.kind)
      .map(({ spec, status }) => [spec!.scaleTargetRef.name, status?.desiredReplicas ?? 0]),
  )
  return cliques.map(clique => {
    const { name } = clique.metadata
    const replicas = before[name] ?? (wanted.get(name) || clique.spec.replicas)
    return { ...clique, spec: { ...clique.spec, replicas } }
  })
}

export function wantedScalingGroups(set: StoredSet): PodCliqueScalingGroup[] {
  return replicaIndexes(set).flatMap(replica =>
    scalingGroups(set, replica).map(instance => podCliqueScalingGroup(set, instance)),
  )
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
  const members = ['roleName', 'podSpec', 'minAvailable', 'startsAfter', 'autoScalingConfig']
  const spec = patchMembers(existing.spec, wanted.spec, members)
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
