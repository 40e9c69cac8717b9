// SPDX-License-Identifier: Apache-2.0

// Every event that the operator emits, as a value without the object it refers to.

export interface EventValue {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
}

/** Reporting components, which users filter by. */
export const eventSource = {
  podCliqueSet: 'podcliqueset-controller',
  podClique: 'podclique-controller',
  podCliqueScalingGroup: 'podcliquescalinggroup-controller',
  clusterTopologyBinding: 'clustertopology-controller',
  schedulerBackend: 'scheduler-backend',
} as const

const normal = (reason: string, message: string): EventValue => ({ type: 'Normal', reason, message })
const warning = (reason: string, message: string): EventValue => ({ type: 'Warning', reason, message })

/** `id` is always `<namespace>/<name>`. */
export const events = {
  podCreated: (pod: string) => normal('PodCreateSuccessful', `Created Pod: ${pod}`),
  podCreateFailed: (pod: string, error: string) =>
    warning('PodCreateFailed', `Error creating pod ${pod}: ${error}`),
  podDeleted: (pod: string) => normal('PodDeleteSuccessful', `Deleted Pod: ${pod}`),
  podDeleteFailed: (error: string) => warning('PodDeleteFailed', `Error deleting pod: ${error}`),

  /** `terminates` is false if gang termination waits, because recreated pods would be pending as well. */
  allPodsLost: (before: number, terminates: boolean) =>
    warning(
      'AllScheduledReplicasLost',
      `All scheduled pods lost (was ${before}). ${afterTotalLoss('PodClique', terminates)}`,
    ),
  allGroupReplicasLost: (before: number, terminates: boolean) =>
    warning(
      'AllScheduledReplicasLost',
      `All scheduled replicas lost (was ${before}). ${afterTotalLoss('PCSG', terminates)}`,
    ),

  replicaLimitExceeded: (message: string) => warning('ReplicaLimitExceeded', message),

  revisionNotRecorded: (error: string) =>
    warning('RevisionNotRecorded', `The revision could not be added to the history of the set: ${error}`),

  orphansAdopted: (count: number) =>
    normal('OrphansAdopted', `Adopted ${count} objects of this name that had no controller`),

  memberCliqueCreated: (id: string) =>
    normal('PodCliqueCreateSuccessful', `PodClique ${id} created successfully`),
  memberCliqueCreateFailed: (id: string, error: string) =>
    warning('PodCliqueCreateFailed', `PodClique ${id} creation failed: ${error}`),
  cliqueApplied: (id: string) =>
    normal('PodCliqueCreateOrUpdateSuccessful', `PodClique ${id} created or updated successfully`),
  memberCliqueApplyFailed: (id: string, error: string) =>
    warning('PodCliqueCreateOrUpdateFailed', `PodClique ${id} creation or update failed: ${error}`),
  standaloneCliqueApplyFailed: (id: string, error: string) =>
    warning('PodCliqueCreateOrUpdateFailed', `PodClique ${id} creation or updation failed: ${error}`),
  cliqueDeleted: (name: string) => normal('PodCliqueDeleteSuccessful', `Deleted PodClique: ${name}`),
  cliqueDeleteFailed: (id: string, error: string) =>
    warning('PodCliqueDeleteFailed', `Error deleting PodClique ${id}: ${error}`),

  scalingGroupApplied: (id: string) =>
    normal('PodCliqueScalingGroupCreateSuccessful', `Created PodCliqueScalingGroup ${id}`),
  scalingGroupApplyFailed: (id: string, error: string) =>
    warning(
      'PodCliqueScalingGroupCreateOrUpdateFailed',
      `Error creating or updating PodCliqueScalingGroup ${id}: ${error}`,
    ),
  scalingGroupDeleted: (id: string) =>
    normal('PodCliqueScalingGroupDeleteSuccessful', `Deleted PodCliqueScalingGroup ${id}`),
  scalingGroupDeleteFailed: (id: string, error: string) =>
    warning('PodCliqueScalingGroupDeleteFailed', `Error deleting PodCliqueScalingGroup ${id}: ${error}`),
  scalingGroupReplicaDeleted: (name: string, replica: number) =>
    normal(
      'PodCliqueScalingGroupReplicaDeleteSuccessful',
      `Deleted PodCliqueScalingGroup ${name} replicaIndex: ${replica}`,
    ),
  scalingGroupReplicaDeleteFailed: (name: string, replica: number, error: string) =>
    warning(
      'PodCliqueScalingGroupReplicaDeleteFailed',
      `Error deleting PodCliqueScalingGroup ${name} ReplicaIndex ${replica} : ${error}`,
    ),

  setReplicaDeleted: (replica: number) =>
    normal('PodCliqueSetReplicaDeleteSuccessful', `PodCliqueSet replica ${replica} deleted`),
  setReplicaDeleteFailed: (replica: number, error: string) =>
    warning('PodCliqueSetReplicaDeleteFailed', `Error deleting PodCliqueSet replica ${replica}: ${error}`),

  /** Extension: emitted before anything is deleted. `deadline` is RFC 3339. */
  gangTerminationScheduled: (what: string, because: string, deadline: string) =>
    warning(
      'GangTerminationScheduled',
      `${what} will be terminated at ${deadline} and recreated unless it recovers: ${because}`,
    ),

  /** Extension: once for each cause that lasts. */
  gangUnschedulable: (message: string) => warning('GangUnschedulable', message),

  podGangApplied: (id: string) => normal('PodGangCreateOrUpdateSuccessful', `Created/Updated PodGang ${id}`),
  podGangApplyFailed: (id: string, error: string) =>
    warning('PodGangCreateOrUpdateFailed', `Error Creating/Updating PodGang ${id}: ${error}`),
  podGangDeleted: (id: string) => normal('PodGangDeleteSuccessful', `Deleted PodGang ${id}`),
  podGangDeleteFailed: (id: string, error: string) =>
    warning('PodGangDeleteFailed', `Error deleting PodGang ${id}: ${error}`),

  computeDomainCreated: (id: string) =>
    normal('ComputeDomainCreateSuccessful', `ComputeDomain ${id} created successfully`),
  computeDomainCreateFailed: (id: string, error: string) =>
    warning('ComputeDomainCreateFailed', `ComputeDomain ${id} creation failed: ${error}`),
  computeDomainDeleted: (name: string) =>
    normal('ComputeDomainDeleteSuccessful', `Deleted ComputeDomain ${name}`),
  computeDomainHeld: (name: string) =>
    warning(
      'ComputeDomainHeld',
      `ComputeDomain ${name} was deleted while pods use it; it is kept until these pods are deleted, then recreated`,
    ),
  computeDomainDeleteFailed: (name: string, error: string) =>
    warning('ComputeDomainDeleteFailed', `Failed to delete ComputeDomain ${name}: ${error}`),

  topologyDrifted: () =>
    warning('TopologyDriftDetected', 'One or more scheduler backend topologies have drifted'),
  topologyInSync: () => normal('TopologyInSync', 'All scheduler backend topologies are in sync'),

  kaiMappingFailed: (error: string) => warning('KAIBackendMappingFailed', error),
  volcanoUnavailable: (error: string) => warning('VolcanoCapabilityUnavailable', error),
} satisfies Record<string, (...args: never[]) => EventValue>

function afterTotalLoss(kind: string, terminates: boolean): string {
  return terminates
    ? `Gang termination will fire after TerminationDelay if the ${kind} stays below MinAvailable; investigate node availability or capacity.`
    : `Gang termination is suppressed while nothing of the ${kind} is scheduled; investigate node availability or capacity.`
}
