// SPDX-License-Identifier: Apache-2.0

// Builds the names of all objects. No code parses a name: owner references and labels express which objects belong
// together.
import { Fnv1a64 } from './revision/fnv.ts'

/** Total length of the user's names in a pod name. The rest is hyphens, indexes and a random suffix. */
export const combinedNameLimit = 45

/** Maximum length of the name of a container, volume or claim in a pod: a DNS label. */
const labelLimit = 63
const shortenedTo = 54

export const operatorName = 'grove-operator'

export const names = {
  /**
   * One replica of a PodCliqueSet. Also the name of its base PodGang and headless Service, and the subdomain of its
   * pods.
   */
  replica: (set: string, replica: number): string => `${set}-${replica}`,

  headlessServiceAddress: (set: string, replica: number, namespace: string, clusterDomain: string): string =>
    `${names.replica(set, replica)}.${namespace}.svc.${clusterDomain}`,

  scalingGroup: (set: string, replica: number, group: string): string => `${set}-${replica}-${group}`,

  standaloneClique: (set: string, replica: number, clique: string): string => `${set}-${replica}-${clique}`,

  /** A clique in one replica of a scaling group. The full name of the group is given. */
  memberClique: (scalingGroupName: string, groupReplica: number, clique: string): string =>
    `${scalingGroupName}-${groupReplica}-${clique}`,

  /** One replica of a scaling group as a topology group inside its base gang. */
  scalingGroupReplica: (scalingGroupName: string, groupReplica: number): string =>
    `${scalingGroupName}-${groupReplica}`,

  basePodGang: (set: string, replica: number): string => names.replica(set, replica),

  /** The gang of a group replica above minAvailable. Numbered from zero, so the name depends on minAvailable. */
  scaledPodGang: (scalingGroupName: string, groupReplica: number, minAvailable: number): string =>
    `${scalingGroupName}-${groupReplica - minAvailable}`,

  podPrefix: (cliqueName: string): string => `${cliqueName}-`,

  podHostname: (cliqueName: string, podIndex: number): string => `${cliqueName}-${podIndex}`,

  serviceAccount: (set: string): string => set,

  /** Role and RoleBinding share this name. */
  podRole: (set: string): string => `grove.io:pcs:${set}`,

  /** The same as a label value, which cannot contain colons. */
  podRoleLabel: (set: string): string => `grove.io-pcs-${set}`,

  tokenSecret: (set: string): string => `${set}-ic-sat`,

  /** Former name of the token Secret. It exists in clusters that an older release managed, and is never created. */
  legacyTokenSecret: (set: string): string => `${set}-initc-sa-token-secret`,

  /** ComputeDomain and the claim template that its driver creates. */
  computeDomain: (set: string, replica: number, mnnvlGroup: string): string =>
    `${set}-${replica}-${mnnvlGroup}`,

  /** A shared claim of an owner (set, scaling group or clique): one for all of its replicas … */
  claimForAllReplicas: (owner: string, template: string): string => `${owner}-all-${template}`,

  /** … or one for each. */
  claimPerReplica: (owner: string, replica: number, template: string): string =>
    `${owner}-${replica}-${template}`,

  /**
   * The name of a shared claim inside a pod: the name of the claim if it is a DNS label. Otherwise its longest prefix
   * that fits, with a hash to make it unique.
   */
  claimInPod: (claim: string): string => {
    if (claim.length <= labelLimit && !claim.includes('.')) return claim
    const hash = BigInt(new Fnv1a64().update(claim).digest()).toString(16).padStart(16, '0')
    return `${claim.slice(0, shortenedTo).replaceAll('.', '-')}-${hash.slice(0, 8)}`
  },
}
