// SPDX-License-Identifier: Apache-2.0

// autoscaling/v1 has one metric, cpu utilization. All other fields of autoscaling/v2 are in annotations, in
// the format of v2beta1.
import { isJsonObject, type JsonObject } from '@grove/apimachinery'
import type { ObjectOf, WithMetadata } from '../../object.ts'
import { decodeAs } from '../../schema/decode.ts'
import { structType } from '../../schema/type-table.ts'
import type {
  AutoscalingHorizontalPodAutoscaler,
  AutoscalingV2HorizontalPodAutoscaler,
  AutoscalingV2HPAScalingRules,
  AutoscalingV2MetricSpec,
  AutoscalingV2MetricStatus,
} from '../../schema/types.generated.ts'
import { draftMetric, draftStatus, metricOfDraft, statusOfDraft } from './autoscaler-drafts.ts'

const prefix = 'autoscaling.alpha.kubernetes.io/'
const defaultUtilization = 80

const first = structType('autoscaling/v1.HorizontalPodAutoscaler')
const second = structType('autoscaling/v2.HorizontalPodAutoscaler')

export function defaultAutoscalerV1(draft: ObjectOf<AutoscalingHorizontalPodAutoscaler>): void {
  const { spec } = draft
  if (!spec) return
  spec.minReplicas ??= 1
  if (!listIn(draft, 'metrics')) spec.targetCPUUtilizationPercentage ??= defaultUtilization
}

export function toV2(
  object: ObjectOf<AutoscalingHorizontalPodAutoscaler>,
): ObjectOf<AutoscalingV2HorizontalPodAutoscaler> {
  const { spec = {}, status = {} } = object
  const { targetCPUUtilizationPercentage: target, ...rest } = spec
  const { currentCPUUtilizationPercentage: current, ...seen } = status
  const metrics = (listIn(object, 'metrics') ?? []).map(metricOfDraft)
  if (target !== undefined)
    metrics.push({
      type: 'Resource',
      resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: target } },
    })
  const currentMetrics =
    listIn(object, 'current-metrics')?.map(statusOfDraft) ??
    (current === undefined
      ? undefined
      : [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: current } } }])
  const behavior = parse(annotationOf(object, 'behavior'))
  return decodeAs<AutoscalingV2HorizontalPodAutoscaler>(second, {
    ...object,
    apiVersion: 'autoscaling/v2',
    metadata: withAnnotations(object, {}),
    spec: { ...rest, metrics, ...(isJsonObject(behavior) && { behavior: recased(behavior, lower) }) },
    status: { ...seen, currentMetrics, conditions: listIn(object, 'conditions') },
  }).object
}

export function fromV2(
  object: ObjectOf<AutoscalingV2HorizontalPodAutoscaler>,
): ObjectOf<AutoscalingHorizontalPodAutoscaler> {
  const { spec = {}, status = {} } = object
  const { metrics = [], behavior, ...rest } = spec
  const { currentMetrics, conditions, ...seen } = status
  const others = metrics.filter(metric => utilizationOf(metric) === undefined)
  const added = {
    ...(others.length > 0 && { metrics: JSON.stringify(others.map(draftMetric)) }),
    ...(behavior && {
      behavior: JSON.stringify({
        ScaleUp: shownRules(behavior.scaleUp),
        ScaleDown: shownRules(behavior.scaleDown),
      }),
    }),
    ...(currentMetrics?.length && { 'current-metrics': JSON.stringify(currentMetrics.map(draftStatus)) }),
    ...(conditions?.length && { conditions: JSON.stringify(conditions) }),
  }
  return decodeAs<AutoscalingHorizontalPodAutoscaler>(first, {
    ...object,
    apiVersion: 'autoscaling/v1',
    metadata: withAnnotations(object, added),
    spec: {
      ...rest,
      targetCPUUtilizationPercentage: metrics.map(utilizationOf).find(one => one !== undefined),
    },
    status: { ...seen, currentCPUUtilizationPercentage: currentUtilization(currentMetrics ?? []) },
  }).object
}

function utilizationOf({ type, resource }: AutoscalingV2MetricSpec): number | undefined {
  return type === 'Resource' && resource?.name === 'cpu' ? resource.target?.averageUtilization : undefined
}

function currentUtilization(metrics: readonly AutoscalingV2MetricStatus[]): number | undefined {
  return metrics.find(({ type, resource }) => type === 'Resource' && resource?.name === 'cpu')?.resource
    ?.current?.averageUtilization
}

function annotationOf({ metadata }: WithMetadata, name: string): string | undefined {
  return metadata.annotations?.[prefix + name]
}

/** Returns undefined if the annotation is not a JSON list. */
function listIn(object: WithMetadata, name: string): JsonObject[] | undefined {
  const value = parse(annotationOf(object, name))
  return Array.isArray(value) ? value.filter(isJsonObject) : undefined
}

function parse(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

const ofSpec = ['metrics', 'behavior']
const ofStatus = ['current-metrics', 'conditions']

/**
 * Restores the annotations that represent the status, because a write to the main resource must not change
 * it.
 */
export function keepStatusAnnotations(draft: WithMetadata, old?: WithMetadata): void {
  keepAnnotations(draft, old, ofStatus)
}

/** Restores the annotations that represent the spec, because a status write must not change it. */
export function keepSpecAnnotations(draft: WithMetadata, old: WithMetadata): void {
  keepAnnotations(draft, old, ofSpec)
}

function keepAnnotations(draft: WithMetadata, old: WithMetadata | undefined, names: readonly string[]): void {
  const annotations = { ...draft.metadata.annotations }
  for (const name of names) {
    const text = old && annotationOf(old, name)
    if (text === undefined) delete annotations[prefix + name]
    else annotations[prefix + name] = text
  }
  if (Object.keys(annotations).length > 0) draft.metadata.annotations = annotations
  else delete draft.metadata.annotations
}

/** Keeps other annotations and replaces the autoscaling ones. */
function withAnnotations(
  { metadata }: WithMetadata,
  ours: Readonly<Record<string, string>>,
): WithMetadata['metadata'] {
  const annotations = Object.fromEntries(
    Object.entries(metadata.annotations ?? {}).filter(([key]) => !key.startsWith(prefix)),
  )
  for (const [name, text] of Object.entries(ours)) annotations[prefix + name] = text
  return { ...metadata, annotations }
}

/** Uses Go's field names, because the struct has no JSON tags. */
function shownRules(rules: AutoscalingV2HPAScalingRules | undefined): unknown {
  if (!rules) return null
  return {
    StabilizationWindowSeconds: rules.stabilizationWindowSeconds ?? null,
    SelectPolicy: rules.selectPolicy ?? null,
    Policies: (rules.policies ?? []).map(policy => ({
      Type: policy.type,
      Value: policy.value,
      PeriodSeconds: policy.periodSeconds,
    })),
    Tolerance: rules.tolerance ?? null,
  }
}

const lower = (key: string) => key.charAt(0).toLowerCase() + key.slice(1)

function recased(value: unknown, change: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map(item => recased(item, change))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [change(key), recased(inner, change)]),
  )
}
