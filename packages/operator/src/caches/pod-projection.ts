// SPDX-License-Identifier: Apache-2.0

import { annotation, mnnvlClaimName, type Pod } from '@grove/api'
import type { Stored } from '@grove/kube'
import type { StoredPod } from '../layout/stored.ts'
import { longestCause } from '../state/pod-state.ts'

/**
 * Keeps only the fields that planners read, because there are thousands of pods. Never send the result back in an
 * update.
 */
export function projectPod(pod: Stored<Pod>): StoredPod {
  const { metadata, spec, status } = pod
  const failures = metadata.annotations?.[annotation.consecutiveFailures]
  const isFailed = status?.phase === 'Failed'
  const inDomain = spec?.resourceClaims?.find(({ name }) => name === mnnvlClaimName)
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: metadata.name,
      namespace: metadata.namespace,
      uid: metadata.uid,
      resourceVersion: metadata.resourceVersion,
      creationTimestamp: metadata.creationTimestamp,
      ...(metadata.deletionTimestamp && { deletionTimestamp: metadata.deletionTimestamp }),
      labels: metadata.labels,
      ...(failures !== undefined && { annotations: { [annotation.consecutiveFailures]: failures } }),
      ownerReferences: metadata.ownerReferences,
    },
    spec: {
      containers: [],
      ...(spec?.hostname && { hostname: spec.hostname }),
      ...(spec?.nodeName && { nodeName: spec.nodeName }),
      ...(spec?.schedulingGates && { schedulingGates: spec.schedulingGates }),
      ...(inDomain && { resourceClaims: [inDomain] }),
    },
    status: {
      phase: status?.phase,
      ...(isFailed && status.reason && { reason: status.reason }),
      conditions: status?.conditions
        ?.filter(condition => condition.type === 'Ready' || condition.type === 'PodScheduled')
        .map(projectCondition),
      ...(status?.containerStatuses && { containerStatuses: status.containerStatuses.map(projectContainer) }),
      ...(status?.initContainerStatuses && {
        initContainerStatuses: status.initContainerStatuses.map(projectContainer),
      }),
    },
  } as StoredPod
}

type PodCondition = NonNullable<NonNullable<Pod['status']>['conditions']>[number]

function projectCondition(condition: PodCondition): PodCondition {
  const { type, status, reason, message, lastTransitionTime } = condition
  const isTimeRead = type === 'Ready' && status !== 'True' && lastTransitionTime !== undefined
  const isMessageRead = type === 'PodScheduled' && reason === 'Unschedulable' && message !== undefined
  return {
    type,
    status,
    ...(reason && { reason }),
    ...(isMessageRead && { message: message.slice(0, longestCause) }),
    ...(isTimeRead && { lastTransitionTime }),
  }
}

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]

function projectContainer(status: ContainerStatus): ContainerStatus {
  const { name, ready, started, restartCount, state, lastState } = status
  return {
    name,
    ready,
    restartCount,
    image: '',
    imageID: '',
    ...(started !== undefined && { started }),
    ...(state?.terminated && { state: { terminated: { exitCode: state.terminated.exitCode } } }),
    ...(lastState?.terminated && { lastState: { terminated: { exitCode: lastState.terminated.exitCode } } }),
  }
}
