// SPDX-License-Identifier: Apache-2.0

import type { ObjectOf } from '../../object.ts'
import type {
  AppsDaemonSet,
  AppsDeployment,
  AppsReplicaSet,
  AppsStatefulSet,
  AutoscalingV2HorizontalPodAutoscaler,
  AutoscalingV2HPAScalingRules,
  BatchCronJob,
  BatchJob,
  BatchJobSpec,
} from '../../schema/types.generated.ts'
import { defaultPodTemplate } from './pod.ts'

const historyLimit = 10
const backoffLimit = 6
const progressDeadlineSeconds = 600
const maximumInt32 = 2 ** 31 - 1

export function defaultDeployment({ spec }: AppsDeployment): void {
  if (!spec) return
  defaultPodTemplate(spec.template)
  spec.replicas ??= 1
  spec.strategy ??= {}
  spec.strategy.type ||= 'RollingUpdate'
  if (spec.strategy.type === 'RollingUpdate') {
    spec.strategy.rollingUpdate ??= {}
    spec.strategy.rollingUpdate.maxUnavailable ??= '25%'
    spec.strategy.rollingUpdate.maxSurge ??= '25%'
  }
  spec.revisionHistoryLimit ??= historyLimit
  spec.progressDeadlineSeconds ??= progressDeadlineSeconds
}

export function defaultReplicaSet({ spec }: AppsReplicaSet): void {
  if (!spec) return
  defaultPodTemplate(spec.template)
  spec.replicas ??= 1
}

export function defaultDaemonSet({ spec }: AppsDaemonSet): void {
  if (!spec) return
  defaultPodTemplate(spec.template)
  spec.updateStrategy ??= {}
  spec.updateStrategy.type ||= 'RollingUpdate'
  if (spec.updateStrategy.type === 'RollingUpdate') {
    spec.updateStrategy.rollingUpdate ??= {}
    spec.updateStrategy.rollingUpdate.maxUnavailable ??= 1
    spec.updateStrategy.rollingUpdate.maxSurge ??= 0
  }
  spec.revisionHistoryLimit ??= historyLimit
}

export function defaultStatefulSet({ spec }: AppsStatefulSet): void {
  if (!spec) return
  defaultPodTemplate(spec.template)
  spec.podManagementPolicy ||= 'OrderedReady'
  spec.updateStrategy ??= {}
  if (!spec.updateStrategy.type) {
    spec.updateStrategy.type = 'RollingUpdate'
    spec.updateStrategy.rollingUpdate ??= {}
  }
  if (spec.updateStrategy.type === 'RollingUpdate' && spec.updateStrategy.rollingUpdate) {
    spec.updateStrategy.rollingUpdate.partition ??= 0
    spec.updateStrategy.rollingUpdate.maxUnavailable ??= 1
  }
  spec.persistentVolumeClaimRetentionPolicy ??= {}
  spec.persistentVolumeClaimRetentionPolicy.whenDeleted ||= 'Retain'
  spec.persistentVolumeClaimRetentionPolicy.whenScaled ||= 'Retain'
  spec.replicas ??= 1
  spec.revisionHistoryLimit ??= historyLimit
  for (const claim of spec.volumeClaimTemplates ?? []) {
    claim.kind = 'PersistentVolumeClaim'
    claim.apiVersion = 'v1'
    if (claim.spec) claim.spec.volumeMode ??= 'Filesystem'
    claim.status = { ...claim.status, phase: claim.status?.phase || 'Pending' }
  }
}

export function defaultJob(job: ObjectOf<BatchJob>): void {
  if (!job.spec) return
  defaultJobSpec(job.spec)
  const labels = job.spec.template?.metadata?.labels
  if (labels && Object.keys(job.metadata?.labels ?? {}).length === 0) job.metadata.labels = { ...labels }
}

function defaultJobSpec(spec: BatchJobSpec): void {
  defaultPodTemplate(spec.template)
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1
  spec.parallelism ??= 1
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? backoffLimit : maximumInt32
  spec.completionMode ??= 'NonIndexed'
  spec.suspend ??= false
  spec.podReplacementPolicy ??= spec.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed'
  spec.manualSelector ??= false
}

export function defaultCronJob({ spec }: BatchCronJob): void {
  if (!spec) return
  defaultPodTemplate(spec.jobTemplate?.spec?.template)
  spec.concurrencyPolicy ||= 'Allow'
  spec.suspend ??= false
  spec.successfulJobsHistoryLimit ??= 3
  spec.failedJobsHistoryLimit ??= 1
}

export function defaultAutoscaler({ spec }: AutoscalingV2HorizontalPodAutoscaler): void {
  if (!spec) return
  spec.minReplicas ??= 1
  if (!spec.metrics?.length)
    spec.metrics = [
      {
        type: 'Resource',
        resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } },
      },
    ]
  if (!spec.behavior) return
  spec.behavior.scaleUp = fillRules(spec.behavior.scaleUp, {
    stabilizationWindowSeconds: 0,
    selectPolicy: 'Max',
    policies: [
      { type: 'Pods', value: 4, periodSeconds: 15 },
      { type: 'Percent', value: 100, periodSeconds: 15 },
    ],
  })
  spec.behavior.scaleDown = fillRules(spec.behavior.scaleDown, {
    selectPolicy: 'Max',
    policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
  })
}

function fillRules(
  given: AutoscalingV2HPAScalingRules | undefined,
  defaults: AutoscalingV2HPAScalingRules,
): AutoscalingV2HPAScalingRules {
  return { ...defaults, ...given }
}
