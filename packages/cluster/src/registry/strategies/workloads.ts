// SPDX-License-Identifier: Apache-2.0

import { dns1123Label, equalJson, type FieldError, fieldError, isJsonObject } from '@grove/apimachinery'
import type {
  AppsControllerRevision,
  AppsDaemonSet,
  AppsDeployment,
  AppsReplicaSet,
  AppsStatefulSet,
  AppsStatefulSetSpec,
  AutoscalingHorizontalPodAutoscaler,
  AutoscalingV2HorizontalPodAutoscaler,
  BatchCronJob,
  BatchJob,
} from '../../schema/types.generated.ts'
import { keepSpecAnnotations, keepStatusAnnotations, toV2 } from '../kinds/autoscaler-v1.ts'
import type { Strategy } from '../resource.ts'
import { validateAutoscaler, validateAutoscalerStatus } from '../validation/autoscaler.ts'
import { atLeast } from '../validation/values.ts'
import { validateDeployment, validateWorkload, type Workload } from '../validation/workload.ts'

export const deploymentStrategy: Partial<Strategy<AppsDeployment>> = {
  hasGeneration: true,
  annotationsCount: true,
  validate: validateDeployment,
  validateUpdate: (object, old) => [...validateDeployment(object), ...validateSelectorUnchanged(object, old)],
}

export const replicaSetStrategy: Partial<Strategy<AppsReplicaSet>> = {
  hasGeneration: true,
  prepareForCreate(draft) {
    draft.status = { replicas: 0 }
  },
  validate: object => validateWorkload(object),
  validateUpdate: (object, old) => [...validateWorkload(object), ...validateSelectorUnchanged(object, old)],
}

export const daemonSetStrategy: Partial<Strategy<AppsDaemonSet>> = {
  hasGeneration: true,
  validate: object => validateWorkload(object),
  validateUpdate: (object, old) => [...validateWorkload(object), ...validateSelectorUnchanged(object, old)],
}

const statefulSetText =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
const statefulSetMutable = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
] as const

export const statefulSetStrategy: Partial<Strategy<AppsStatefulSet>> = {
  hasGeneration: true,
  nameRule: dns1123Label,
  prepareForCreate(draft) {
    draft.status = { replicas: 0, availableReplicas: 0 }
  },
  validate: object => validateWorkload(object),
  validateUpdate: (object, old) => {
    const fixed = (spec: AppsStatefulSetSpec | undefined) => {
      const copy = { ...spec }
      for (const field of statefulSetMutable) delete copy[field]
      return copy
    }
    const errors = validateWorkload(object)
    return equalJson(fixed(object.spec), fixed(old.spec))
      ? errors
      : [...errors, fieldError.forbidden('spec', statefulSetText)]
  },
}

export const revisionStrategy: Partial<Strategy<AppsControllerRevision>> = {
  hasStatus: false,
  validate: validateRevision,
  validateUpdate: (object, old) => [
    ...(equalJson(object.data, old.data)
      ? validateRevision(object)
      : [fieldError.immutable('data', object.data)]),
  ],
}

function validateRevision(object: AppsControllerRevision): FieldError[] {
  const { data, revision = 0 } = object
  return [
    ...(data === undefined || data === null ? [fieldError.required('data', 'data is mandatory')] : []),
    ...(data !== undefined && data !== null && !isJsonObject(data)
      ? [fieldError.required('data', 'data must be a valid JSON object')]
      : []),
    ...atLeast(0, revision, 'revision'),
  ]
}

const orphanWarning =
  'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning'

export const jobStrategy: Partial<Strategy<BatchJob>> = {
  hasGeneration: true,
  defaultPropagation: 'Orphan',
  deletionWarning: orphanWarning,
  prepareForCreate(draft) {
    const { metadata, spec } = draft
    if (!spec || spec.manualSelector) return
    const labels = {
      'batch.kubernetes.io/controller-uid': metadata!.uid!,
      'batch.kubernetes.io/job-name': metadata!.name!,
      'controller-uid': metadata!.uid!,
      'job-name': metadata!.name!,
    }
    spec.template ??= {}
    spec.template.metadata = {
      ...spec.template.metadata,
      labels: { ...spec.template.metadata?.labels, ...labels },
    }
    spec.selector = { matchLabels: { 'batch.kubernetes.io/controller-uid': metadata!.uid! } }
    // A Job without labels gets the labels of its pod template.
    if (Object.keys(metadata!.labels ?? {}).length === 0)
      metadata!.labels = { ...spec.template.metadata.labels }
  },
  validate: validateJob,
  validateUpdate: (object, old) => {
    const spec = object.spec ?? {}
    const before = old.spec ?? {}
    const errors = validateJob(object)
    for (const field of ['completions', 'selector', 'template', 'completionMode'] as const)
      if (!equalJson(spec[field], before[field]))
        errors.push(fieldError.immutable(`spec.${field}`, spec[field]))
    return errors
  },
}

function validateJob(object: BatchJob): FieldError[] {
  const { spec } = object
  const errors = validateWorkload(object, { selector: false })
  const policy = spec?.template?.spec?.restartPolicy
  if (policy === 'Always')
    errors.push(fieldError.required('spec.template.spec.restartPolicy', 'valid values: "OnFailure", "Never"'))
  return errors
}

export const cronJobStrategy: Partial<Strategy<BatchCronJob>> = { hasGeneration: true }

export const autoscalerStrategy: Partial<Strategy<AutoscalingV2HorizontalPodAutoscaler>> = {
  hasGeneration: true,
  validate: validateAutoscaler,
  validateStatusUpdate: validateAutoscalerStatus,
}

/** The fields in annotations are validated too. */
export const autoscalerV1Strategy: Partial<Strategy<AutoscalingHorizontalPodAutoscaler>> = {
  hasGeneration: true,
  prepareForCreate: draft => keepStatusAnnotations(draft),
  prepareForUpdate: keepStatusAnnotations,
  prepareForStatusUpdate: keepSpecAnnotations,
  validate: object => validateAutoscaler(toV2(object)),
  validateStatusUpdate: object => validateAutoscalerStatus(toV2(object)),
}

function validateSelectorUnchanged(object: Workload, old: Workload): FieldError[] {
  const now = object.spec?.selector
  const before = old.spec?.selector
  return equalJson(now, before) ? [] : [fieldError.immutable('spec.selector', now)]
}
