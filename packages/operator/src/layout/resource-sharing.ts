// SPDX-License-Identifier: Apache-2.0

// Devices that pods share: the claims at each level, and the pods that use them.
import {
  type CliqueOrScalingGroupFilter,
  names,
  type ResourceClaimSpec,
  type ResourceSharing,
} from '@grove/api'
import type { CliqueInstance } from './layout.ts'
import type { StoredSet } from './stored.ts'

/** The claims that a pod uses, in the order of its spec. */
export function claimsOfPod(set: StoredSet, instance: CliqueInstance, podIndex: number): string[] {
  const { template, setReplica, group, name } = instance
  const forPod = (filter: CliqueOrScalingGroupFilter | undefined): boolean =>
    filter === undefined ||
    (filter.childCliqueNames ?? []).includes(template.name) ||
    (group !== undefined && (filter.childScalingGroupNames ?? []).includes(group.instance.config.name))

  const ofSet = (set.spec.template.resourceSharing ?? []).filter(entry => forPod(entry.filter))
  const ofGroup = (group?.instance.config.resourceSharing ?? []).filter(entry => forPod(entry.filter))
  return [
    ...claimNames(ofSet, set.metadata.name, setReplica),
    ...(group ? claimNames(ofGroup, group.instance.name, group.replica) : []),
    ...claimNames(template.resourceSharing ?? [], name, podIndex),
  ]
}

/** The claim template inside the set that an entry refers to. An entry with a namespace refers to one of the cluster. */
export function internalTemplate(set: StoredSet, entry: ResourceSharing): ResourceClaimSpec | undefined {
  if (entry.namespace) return undefined
  const templates = set.spec.template.resourceClaimTemplates ?? []
  return templates.find(({ name }) => name === entry.name)?.templateSpec.spec
}

/** The claims of one owner that one of its replicas uses; first those that all replicas share. */
function claimNames(entries: readonly ResourceSharing[], owner: string, replica: number): string[] {
  const all = entries.filter(entry => entry.scope === 'AllReplicas')
  const each = entries.filter(entry => entry.scope === 'PerReplica')
  return [
    ...all.map(entry => names.claimForAllReplicas(owner, entry.name)),
    ...each.map(entry => names.claimPerReplica(owner, replica, entry.name)),
  ]
}
