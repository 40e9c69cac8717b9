// SPDX-License-Identifier: Apache-2.0

// The fields of each kind of child that the operator owns after creation.
import type {
  HorizontalPodAutoscaler,
  PodClique,
  PodCliqueScalingGroup,
  Role,
  RoleBinding,
  Service,
  ServiceAccount,
} from '@grove/api'
import type { Stored } from '@grove/kube'
import type { MergePatch } from '../apply/intent.ts'
import { patchMembers, podSpecPatch, sameMeaning } from '../apply/owned-fields.ts'
import { sameMetrics } from './autoscaler-metrics.ts'
import { combine, metadataPatch } from './child-objects.ts'

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

/** The roleRef of a binding is immutable. */
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

/** Metrics only if the set names some: otherwise the API server sets a default. The user owns `behavior`. */
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

/** All fields except the replica count, which users and autoscalers own. */
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

/** The fields that a clique follows even before an update reaches it: those that are not part of its pod template. */
export function patchHeldClique(existing: Stored<PodClique>, wanted: PodClique): MergePatch | undefined {
  const spec = patchMembers(existing.spec, wanted.spec, ['minAvailable', 'autoScalingConfig'])
  return spec && { spec }
}

/** All fields except the replica count, which users and autoscalers own. */
export function patchScalingGroup(
  existing: Stored<PodCliqueScalingGroup>,
  wanted: PodCliqueScalingGroup,
): MergePatch | undefined {
  const spec = patchMembers(existing.spec, wanted.spec, ['minAvailable', 'cliqueNames'])
  return combine(metadataPatch(existing, wanted, ['labels', 'annotations']), spec && { spec })
}
