// SPDX-License-Identifier: Apache-2.0

// How every object is called. Names are only ever built here, never taken apart again: what belongs to what is said
// by owner references and labels.
import { Fnv1a64 } from './revision/fnv.ts'

/** Characters that the user's own parts of a pod name may have together; the rest is hyphens, indexes and a random suffix. */
export const combinedNameLimit = 45

/** What the name of a container, a volume or a claim inside a pod may have: a DNS label. */
const labelLimit = 63
const shortenedTo = 54

export const operatorName = 'grove-operator'

export const names = {
  /** One replica of a PodCliqueSet; also its base PodGang, its headless Service and the subdomain of its pods. */
  replica: (set: string, replica: number): string => `${set}-${replica}`,

  headlessServiceAddress: (set: string, replica: number, namespace: string, clusterDomain: string): string =>
    `${names.replica(set, replica)}.${namespace}.svc.${clusterDomain}`,

  scalingGroup: (set: string, replica: number, group: string): string => `${set}-${replica}-${group}`,

  standaloneClique: (set: string, replica: number, clique: string): string => `${set}-${replica}-${clique}`,

  /** A clique in one replica of a scaling group, whose full name is given. */
  memberClique: (scalingGroupName: string, groupReplica: number, clique: string): string =>
    `${scalingGroupName}-${groupReplica}-${clique}`,

  /** One replica of a scaling group as a topology group inside its base gang. */
  scalingGroupReplica: (scalingGroupName: string, groupReplica: number): string =>
    `${scalingGroupName}-${groupReplica}`,

  basePodGang: (set: string, replica: number): string => names.replica(set, replica),

  /** The gang of a group replica beyond the minimum. Counted from zero, so it depends on the group's minAvailable. */
  scaledPodGang: (scalingGroupName: string, groupReplica: number, minAvailable: number): string =>
    `${scalingGroupName}-${groupReplica - minAvailable}`,

  podPrefix: (cliqueName: string): string => `${cliqueName}-`,

  podHostname: (cliqueName: string, podIndex: number): string => `${cliqueName}-${podIndex}`,

  serviceAccount: (set: string): string => set,

  /** Role and RoleBinding share this name. */
  podRole: (set: string): string => `grove.io:pcs:${set}`,

  /** The same as a label value, where colons are not allowed. */
  podRoleLabel: (set: string): string => `grove.io-pcs-${set}`,

  tokenSecret: (set: string): string => `${set}-ic-sat`,

  /** Former name of the token Secret; met on clusters taken over from older releases, never created. */
  legacyTokenSecret: (set: string): string => `${set}-initc-sa-token-secret`,

  /** ComputeDomain and the claim template that its driver makes. */
  computeDomain: (set: string, replica: number, mnnvlGroup: string): string =>
    `${set}-${replica}-${mnnvlGroup}`,

  /** A shared claim of an owner (set, scaling group or clique): one for all of its replicas … */
  claimForAllReplicas: (owner: string, template: string): string => `${owner}-all-${template}`,

  /** … or one for each. */
  claimPerReplica: (owner: string, replica: number, template: string): string =>
    `${owner}-${replica}-${template}`,

  /**
   * How a pod calls a shared claim inside itself. The claim's own name, unless it is no DNS label: then as much of it as
   * fits, told apart from others by its hash.
   */
  claimInPod: (claim: string): string => {
    if (claim.length <= labelLimit && !claim.includes('.')) return claim
    const hash = BigInt(new Fnv1a64().update(claim).digest()).toString(16).padStart(16, '0')
    return `${claim.slice(0, shortenedTo).replaceAll('.', '-')}-${hash.slice(0, 8)}`
  },
}
