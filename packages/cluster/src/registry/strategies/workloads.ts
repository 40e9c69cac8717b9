// SPDX-License-Identifier: Apache-2.0

import { dns1123Label, equalJson, type FieldError, fieldError, isJsonObject } from '@grove/apimachinery'
import type { KubeObject } from '../../object.ts'
import type { AppsControllerRevision, AppsReplicaSet, BatchJob } from '../../schema/types.generated.ts'
import { keepSpecAnnotations, keepStatusAnnotations, toSecond } from '../kinds/first-autoscaler.ts'
import type { Strategy } from '../resource.ts'
import { validateAutoscaler, validateAutoscalerStatus } from '../validation/autoscaler.ts'
import { atLeast } from '../validation/values.ts'
import { validateWorkload } from '../validation/workload.ts'

export const deploymentStrategy: Partial<Strategy> = {
  hasGeneration: true,
  annotationsCount: true,
  validate: object => validateWorkload(object),
  validateUpdate: (object, old) => [...validateWorkload(object), ...selectorKept(object, old)],
}

export const replicaSetStrategy: Partial<Strategy> = {
  hasGeneration: true,
  prepareForCreate(draft) {
    ;(draft as unknown as AppsReplicaSet).status = { replicas: 0 }
  },
  validate: object => validateWorkload(object),
  validateUpdate: (object, old) => [...validateWorkload(object), ...selectorKept(object, old)],
}

export const daemonSetStrategy: Partial<Strategy> = {
  hasGeneration: true,
  validate: object => validateWorkload(object),
  validateUpdate: (object, old) => [...validateWorkload(object), ...selectorKept(object, old)],
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
]

export const statefulSetStrategy: Partial<Strategy> = {
  hasGeneration: true,
  nameRule: dns1123Label,
  prepareForCreate(draft) {
    draft.status = { replicas: 0, availableReplicas: 0 }
  },
  validate: object => validateWorkload(object),
  validateUpdate: (object, old) => {
    const fixed = (spec: unknown) => {
      const copy = { ...(spec as Record<string, unknown>) }
      for (const field of statefulSetMutable) delete copy[field]
      return copy
    }
    const errors = validateWorkload(object)
    return equalJson(fixed(object.spec), fixed(old.spec))
      ? errors
      : [...errors, fieldError.forbidden('spec', statefulSetText)]
  },
}

export const revisionStrategy: Partial<Strategy> = {
  hasStatus: false,
  validate: validateRevision,
  validateUpdate: (object, old) => [
    ...(equalJson(object.data, old.data)
      ? validateRevision(object)
      : [fieldError.immutable('data', object.data)]),
  ],
}

function validateRevision(object: KubeObject): FieldError[] {
  const { data, revision = 0 } = object as unknown as AppsControllerRevision
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

export const jobStrategy: Partial<Strategy> = {
  hasGeneration: true,
  defaultPropagation: 'Orphan',
  deletionWarning: orphanWarning,
  prepareForCreate(draft) {
    const { metadata, spec } = draft as unknown as BatchJob
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
    // A job without labels of its own wears those of its pods.
    if (Object.keys(metadata!.labels ?? {}).length === 0)
      metadata!.labels = { ...spec.template.metadata.labels }
  },
  validate: validateJob,
  validateUpdate: (object, old) => {
    const spec = (object as unknown as BatchJob).spec ?? {}
    const before = (old as unknown as BatchJob).spec ?? {}
    const errors = validateJob(object)
    for (const field of ['completions', 'selector', 'template', 'completionMode'] as const)
      if (!equalJson(spec[field], before[field]))
        errors.push(fieldError.immutable(`spec.${field}`, spec[field]))
    return errors
  },
}

function validateJob(object: KubeObject): FieldError[] {
  const { spec } = object as unknown as BatchJob
  const errors = validateWorkload(object, { selector: false })
  const policy = spec?.template?.spec?.restartPolicy
  if (policy === 'Always')
    errors.push(fieldError.required('spec.template.spec.restartPolicy', 'valid values: "OnFailure", "Never"'))
  return errors
}

export const cronJobStrategy: Partial<Strategy> = { hasGeneration: true }

export const autoscalerStrategy: Partial<Strategy> = {
  hasGeneration: true,
  validate: validateAutoscaler,
  validateStatusUpdate: validateAutoscalerStatus,
}

/** What stands in annotations counts, and is judged, too. */
export const firstAutoscalerStrategy: Partial<Strategy> = {
  hasGeneration: true,
  prepareForCreate: draft => keepStatusAnnotations(draft),
  prepareForUpdate: keepStatusAnnotations,
  prepareForStatusUpdate: keepSpecAnnotations,
  validate: object => validateAutoscaler(toSecond(object)),
  validateStatusUpdate: object => validateAutoscalerStatus(toSecond(object)),
}

function selectorKept(object: KubeObject, old: KubeObject): FieldError[] {
  const now = (object.spec as { selector?: unknown } | undefined)?.selector
  const before = (old.spec as { selector?: unknown } | undefined)?.selector
  return equalJson(now, before) ? [] : [fieldError.immutable('spec.selector', now)]
}
