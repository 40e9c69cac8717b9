// SPDX-License-Identifier: Apache-2.0

// Every condition that the operator writes, as a value. Status, reason and message belong together, so one function
// creates all three.

export type ConditionStatus = 'True' | 'False' | 'Unknown'

export interface ConditionValue {
  readonly type: string
  readonly status: ConditionStatus
  readonly reason: string
  readonly message: string
}

export const conditionType = {
  topologyLevelsUnavailable: 'TopologyLevelsUnavailable',
  podCliqueScheduled: 'PodCliqueScheduled',
  minAvailableBreached: 'MinAvailableBreached',
  gangTerminationInProgress: 'GangTerminationInProgress',
  schedulerTopologyDrift: 'SchedulerTopologyDrift',
  /**
   * Extension: on a PodClique that had minAvailable pods scheduled once, or a PodCliqueScalingGroup that was available
   * once. Never set back.
   */
  everScheduled: 'EverScheduled',
  everHealthy: 'EverHealthy',
  /** Extension: on every object that is being updated, and on a PodCliqueSet after its update. */
  updateProgressing: 'UpdateProgressing',
  /** Extension: on a PodCliqueSet. `kubectl wait --for=condition=Available` waits for it. */
  available: 'Available',
  /** Extension: on a PodCliqueSet that cannot make progress. Absent otherwise. */
  stalled: 'Stalled',
  /** Extension: on a PodClique whose pods fail repeatedly. */
  podsFailing: 'PodsFailing',
  podGangInitialized: 'Initialized',
  podGangScheduled: 'Scheduled',
  podGangReady: 'Ready',
  podGangUnhealthy: 'Unhealthy',
  podGangDisruptionTarget: 'DisruptionTarget',
} as const

function maker(type: string) {
  return (status: ConditionStatus, reason: string, message: string): ConditionValue => ({
    type,
    status,
    reason,
    message,
  })
}

const topology = maker(conditionType.topologyLevelsUnavailable)

/** On a PodCliqueSet. */
export const topologyLevels = {
  noConstraints: topology('False', 'AllClusterTopologyLevelsAvailable', 'No topology constraints defined'),
  available: topology('False', 'AllClusterTopologyLevelsAvailable', 'All topology levels are available'),
  unavailable: (domains: readonly string[]): ConditionValue =>
    topology(
      'True',
      'ClusterTopologyLevelsUnavailable',
      `Unavailable topology domains: [${[...domains].sort().join(' ')}]`,
    ),
  bindingNotFound: topology(
    'Unknown',
    'ClusterTopologyNotFound',
    'ClusterTopologyBinding resource not found',
  ),
  nameMissing: topology(
    'Unknown',
    'TopologyNameMissing',
    'PodCliqueSet topology constraints must include topologyName',
  ),
  schedulingDisabled: topology(
    'Unknown',
    'TopologyAwareSchedulingDisabled',
    'Topology constraints are defined but Topology Aware Scheduling is disabled',
  ),
}

const scheduled = maker(conditionType.podCliqueScheduled)

/** On a PodClique: reports whether minAvailable pods are scheduled. */
export const podCliqueScheduled = (minAvailable: number, found: number): ConditionValue =>
  found < minAvailable
    ? scheduled(
        'False',
        'InsufficientScheduledPods',
        `Insufficient scheduled pods. expected at least: ${minAvailable}, found: ${found}`,
      )
    : scheduled(
        'True',
        'SufficientScheduledPods',
        `Sufficient scheduled pods found. expected at least: ${minAvailable}, found: ${found}`,
      )

const breach = maker(conditionType.minAvailableBreached)

export type BreachedKind = 'PodClique' | 'PodCliqueScalingGroup'

/** Reasons while nothing is scheduled. Clients distinguish the two kinds by them. */
const nothingScheduled: Readonly<Record<BreachedKind, string>> = {
  PodClique: 'InsufficientScheduledPods',
  PodCliqueScalingGroup: 'InsufficientScheduledPodCliqueScalingGroupReplicas',
}

/** On PodCliques and PodCliqueScalingGroups: reports whether fewer than minAvailable are available. */
export const minAvailableBreached = {
  updateInProgress: breach('Unknown', 'UpdateInProgress', 'Update is in progress'),

  scheduledBelowMinimum: (found: number, minAvailable: number): ConditionValue =>
    breach(
      'True',
      'ScheduledReplicasBelowMinAvailable',
      `Scheduled replicas (${found}) below MinAvailable (${minAvailable})`,
    ),

  /** No pod was ever scheduled: a startup is not a breach. */
  neverScheduled: (of: BreachedKind): ConditionValue =>
    breach(
      'False',
      nothingScheduled[of],
      'No replica has been scheduled yet. Gang termination is suppressed during start-up',
    ),

  /** All pods were lost: recreated pods would be pending as well. */
  allLost: (of: BreachedKind): ConditionValue =>
    breach(
      'False',
      nothingScheduled[of],
      'All scheduled replicas were lost. Gang termination is suppressed because recreating them would give the same pending pods',
    ),

  /** The user scaled to zero: this is neither a startup nor a loss. */
  scaledToZero: (of: BreachedKind): ConditionValue =>
    breach(
      'False',
      nothingScheduled[of],
      'Scaled to zero. Gang termination is suppressed because no replica is wanted',
    ),

  tooFewPods: (minAvailable: number, found: number): ConditionValue =>
    breach(
      'True',
      'InsufficientReadyPods',
      `Insufficient ready or starting pods. expected at least: ${minAvailable}, found: ${found}`,
    ),

  enoughPods: (minAvailable: number, found: number): ConditionValue =>
    breach(
      'False',
      'SufficientReadyPods',
      `Either sufficient ready or starting pods found. expected at least: ${minAvailable}, found: ${found}`,
    ),

  tooFewGroupReplicas: (notInBreach: number, minAvailable: number): ConditionValue =>
    breach(
      'True',
      'InsufficientAvailablePodCliqueScalingGroupReplicas',
      `PCSG replicas not in breach (${notInBreach}) below MinAvailable (${minAvailable})`,
    ),

  enoughGroupReplicas: (notInBreach: number, minAvailable: number): ConditionValue =>
    breach(
      'False',
      'SufficientAvailablePodCliqueScalingGroupReplicas',
      `PCSG replicas not in breach (${notInBreach}) meets MinAvailable (${minAvailable})`,
    ),
}

/** Persists across operator restarts. Only an object that was available before can be terminated. */
export const everScheduled: ConditionValue = {
  type: conditionType.everScheduled,
  status: 'True',
  reason: 'MinAvailableReached',
  message: 'The minimum was scheduled at least once',
}

export const everHealthy: ConditionValue = {
  type: conditionType.everHealthy,
  status: 'True',
  reason: 'MinAvailableReached',
  message: 'The minimum was healthy at least once',
}

/** On every PodCliqueScalingGroup of a replica that gang termination has just deleted. */
export const gangTerminationInProgress = (replica: number): ConditionValue => ({
  type: conditionType.gangTerminationInProgress,
  status: 'True',
  reason: 'GangTerminationActive',
  message: `Gang termination fired at PCS-replica scope for PCS replica ${replica}; this PCSG's PodCliques were deleted as part of the recycle`,
})

const updating = maker(conditionType.updateProgressing)

/** Progress of an update and its next step. On PodCliques and PodCliqueScalingGroups only during their own update. */
export const updateProgressing = {
  replacing: (what: string): ConditionValue => updating('True', 'Replacing', what),
  waiting: (what: string): ConditionValue => updating('True', 'Waiting', what),
  paused: (what: string): ConditionValue => updating('Unknown', 'Paused', what),
  partitioned: (what: string): ConditionValue => updating('False', 'Partitioned', what),
  deadlineExceeded: (what: string): ConditionValue => updating('False', 'ProgressDeadlineExceeded', what),
  complete: updating('False', 'UpdateComplete', 'All replicas have the newest template'),
}

const available = maker(conditionType.available)

/** A child of a replica that is not available, and the resource name by which kubectl finds it. */
export interface LackingChild {
  readonly kind: 'PodClique' | 'PodCliqueScalingGroup'
  readonly name: string
  /** The state of the child, as the end of a sentence. */
  readonly lacks: string
}

/** On a PodCliqueSet: reports whether every replica is available. */
export const availability = {
  all: available('True', 'AllReplicasAvailable', 'All replicas are available'),
  scaledToZero: available('True', 'AllReplicasAvailable', 'No replica is wanted: spec.replicas is 0'),
  unavailable: (replica: number, child: LackingChild | undefined, namespace: string): ConditionValue =>
    available(
      'False',
      'ReplicasUnavailable',
      child
        ? `Replica ${replica} is not available: ${child.kind} ${child.name} ${child.lacks}. To see its state: kubectl -n ${namespace} describe ${shortNames[child.kind]} ${child.name}`
        : `Replica ${replica} does not exist yet`,
    ),
  /** Repeats the cause, so that both conditions agree. */
  stalled: ({ reason, message }: ConditionValue): ConditionValue => available('False', reason, message),
}

const shortNames = { PodClique: 'pclq', PodCliqueScalingGroup: 'pcsg' } as const

const stall = maker(conditionType.stalled)

/** On a PodCliqueSet: the cause that blocks the set, and what to do. */
export const stalled = {
  limitExceeded: (error: string): ConditionValue => stall('True', 'LimitExceeded', error),
  failed: (error: string): ConditionValue => stall('True', 'ReconcileFailed', error),
  gangUnschedulable: (gang: string, cause: string): ConditionValue =>
    stall('True', 'GangUnschedulable', `PodGang ${gang} cannot be scheduled: ${cause}`),
  podsFailing: (clique: string, failures: string): ConditionValue =>
    stall('True', 'PodsFailing', `Pods of PodClique ${clique} fail. ${failures}. Read their logs`),
  updateDeadlineExceeded: (progress: string): ConditionValue =>
    stall('True', 'ProgressDeadlineExceeded', progress),
}

const podsFail = maker(conditionType.podsFailing)

/** On a PodClique, from the first failure that delays a replacement. */
export const podsFailing = {
  backOff: (message: string): ConditionValue => podsFail('True', 'BackOff', message),
  recovered: podsFail('False', 'Recovered', 'No replacement of a failed pod is delayed'),
}

const drift = maker(conditionType.schedulerTopologyDrift)

/** On a ClusterTopologyBinding. */
export const schedulerTopologyDrift = {
  inSync: drift('False', 'InSync', 'All scheduler backend topologies are in sync'),
  drifted: drift('True', 'Drift', 'One or more scheduler backend topologies have drifted'),
  backendUnavailable: drift(
    'Unknown',
    'TopologyNotFound',
    'One or more referenced scheduler backends are unavailable for topology management',
  ),
}

const initialized = maker(conditionType.podGangInitialized)

/** On a PodGang: reports whether all of its pods exist. The message of a waiting gang names the missing part. */
export const podGangInitialized = {
  pending: (waitsFor: string) => initialized('False', 'PodGangPodsCreationPending', waitsFor),
  /** Extension: the gang was complete once and has fewer than minReplicas pods now. */
  lost: (waitsFor: string) => initialized('False', 'PodGangPodsLost', waitsFor),
  done: initialized('True', 'PodGangPodsCreated', 'PodGang is fully initialized'),
}
