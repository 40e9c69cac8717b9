// SPDX-License-Identifier: Apache-2.0

import { type FieldError, fieldError, parseQuantity } from '@grove/apimachinery'
import type {
  AutoscalingV2CrossVersionObjectReference,
  AutoscalingV2HorizontalPodAutoscaler,
  AutoscalingV2HPAScalingRules,
  AutoscalingV2MetricIdentifier,
  AutoscalingV2MetricSpec,
  AutoscalingV2MetricTarget,
} from '../../schema/types.generated.ts'
import { atLeast, named, oneOf, pathSegmentName } from './values.ts'

const longestPeriodSeconds = 1800
const longestWindowSeconds = 3600

/** Replica bounds come last, because another part of the real API server validates them. */
export function validateAutoscaler(object: AutoscalingV2HorizontalPodAutoscaler): FieldError[] {
  const { spec = {} } = object
  const { minReplicas = 1, maxReplicas = 0, behavior } = spec
  return [
    ...(maxReplicas < minReplicas
      ? [
          fieldError.invalid(
            'spec.maxReplicas',
            maxReplicas,
            'must be greater than or equal to `minReplicas`',
          ),
        ]
      : []),
    ...validateReference(spec.scaleTargetRef ?? {}, 'spec.scaleTargetRef'),
    ...validateGroup(spec.scaleTargetRef ?? {}, 'spec.scaleTargetRef.apiVersion'),
    ...validateMetrics(spec.metrics ?? [], minReplicas),
    ...validateRules(behavior?.scaleUp, 'spec.behavior.scaleUp'),
    ...validateRules(behavior?.scaleDown, 'spec.behavior.scaleDown'),
    ...atLeast(0, minReplicas, 'spec.minReplicas'),
    ...(maxReplicas === 0
      ? [fieldError.required('spec.maxReplicas')]
      : atLeast(1, maxReplicas, 'spec.maxReplicas')),
  ]
}

export function validateAutoscalerStatus({ status }: AutoscalingV2HorizontalPodAutoscaler): FieldError[] {
  return [
    ...atLeast(0, status?.currentReplicas, 'status.currentReplicas'),
    ...atLeast(0, status?.desiredReplicas, 'status.desiredReplicas'),
  ]
}

function validateReference(
  { kind, name }: AutoscalingV2CrossVersionObjectReference,
  field: string,
): FieldError[] {
  return [...named(kind, pathSegmentName, `${field}.kind`), ...named(name, pathSegmentName, `${field}.name`)]
}

/** No kind of the core group can be scaled. */
function validateGroup(
  { apiVersion = '' }: AutoscalingV2CrossVersionObjectReference,
  field: string,
): FieldError[] {
  const parts = apiVersion.split('/')
  if (parts.length > 2)
    return [fieldError.invalid(field, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)]
  return parts.length === 2
    ? []
    : [fieldError.invalid(field, apiVersion, 'apiVersion must specify API group')]
}

function validateMetrics(metrics: readonly AutoscalingV2MetricSpec[], minReplicas: number): FieldError[] {
  const errors = metrics.flatMap((metric, index) => validateMetric(metric, `spec.metrics[${index}]`))
  if (minReplicas === 0 && !metrics.some(({ type }) => type === 'Object' || type === 'External'))
    errors.push(
      fieldError.forbidden(
        'spec.metrics',
        'must specify at least one Object or External metric to support scaling to zero replicas',
      ),
    )
  return errors
}

/** The field of each metric source type, in the order in which the API server checks them. */
const sources = {
  Object: 'object',
  External: 'external',
  Pods: 'pods',
  Resource: 'resource',
  ContainerResource: 'containerResource',
} as const

function isSource(type: string): type is keyof typeof sources {
  return Object.hasOwn(sources, type)
}

function validateMetric(metric: AutoscalingV2MetricSpec, field: string): FieldError[] {
  const { type = '' } = metric
  const errors: FieldError[] = []
  if (type === '') errors.push(fieldError.required(`${field}.type`, 'must specify a metric source type'))
  if (!isSource(type)) errors.push(fieldError.unsupported(`${field}.type`, type, Object.keys(sources).sort()))
  const present = Object.values(sources).filter(source => metric[source] !== undefined)
  if (present[0]) errors.push(...validateSource(metric, present[0], `${field}.${present[0]}`))
  if (!isSource(type)) return errors
  const wanted = sources[type]
  if (!present.includes(wanted))
    return [
      ...errors,
      fieldError.required(`${field}.${wanted}`, 'must populate information for the given metric source'),
    ]
  for (const other of present.filter(source => source !== wanted))
    errors.push(fieldError.forbidden(`${field}.${other}`, 'must populate the given metric source only'))
  return errors
}

function validateSource(
  metric: AutoscalingV2MetricSpec,
  source: (typeof sources)[keyof typeof sources],
  field: string,
): FieldError[] {
  const { target = {} } = metric[source] ?? {}
  const at = `${field}.target`
  switch (source) {
    case 'object':
      return [
        ...validateReference(metric.object?.describedObject ?? {}, `${field}.describedObject`),
        ...validateName(metric.object?.metric, field),
        ...validateTarget(target, at),
        ...(target.value === undefined && target.averageValue === undefined
          ? [fieldError.required(`${at}.averageValue`, 'must set either a target value or averageValue')]
          : []),
      ]
    case 'external':
      return [
        ...validateName(metric.external?.metric, field),
        ...validateTarget(target, at),
        ...validateExternal(target, at),
      ]
    case 'pods':
      return [
        ...validateName(metric.pods?.metric, field),
        ...validateTarget(target, at),
        ...(target.averageValue === undefined
          ? [fieldError.required(`${at}.averageValue`, 'must specify a positive target averageValue')]
          : []),
      ]
    case 'containerResource':
    case 'resource':
      return [
        ...(metric[source]?.name
          ? []
          : [fieldError.required(`${field}.name`, 'must specify a resource name')]),
        ...(source === 'containerResource' && !metric.containerResource?.container
          ? [fieldError.required(`${field}.container`, 'must specify a container')]
          : []),
        ...validateTarget(target, at),
        ...validateUtilization(target, at),
      ]
  }
}

function validateName(metric: AutoscalingV2MetricIdentifier | undefined, field: string): FieldError[] {
  return metric?.name
    ? named(metric.name, pathSegmentName, `${field}.metric.name`)
    : [fieldError.required(`${field}.metric.name`, 'must specify a metric name')]
}

const targetTypes = ['Utilization', 'Value', 'AverageValue']

function validateTarget(target: AutoscalingV2MetricTarget, field: string): FieldError[] {
  const { type = '' } = target
  const errors: FieldError[] = []
  if (type === '') errors.push(fieldError.required(`${field}.type`, 'must specify a metric target type'))
  if (!targetTypes.includes(type))
    errors.push(
      fieldError.invalid(`${field}.type`, type, 'must be either Utilization, Value, or AverageValue'),
    )
  for (const part of ['value', 'averageValue'] as const) {
    const amount = target[part]
    if (amount !== undefined && parseQuantity(amount).unscaled <= 0n)
      errors.push(fieldError.invalid(`${field}.${part}`, amount, 'must be positive'))
  }
  return errors
}

function validateExternal({ value, averageValue }: AutoscalingV2MetricTarget, field: string): FieldError[] {
  if (value !== undefined && averageValue !== undefined)
    return [
      fieldError.forbidden(
        `${field}.value`,
        'may not set both a target value for metric and a per-pod target',
      ),
    ]
  return value === undefined && averageValue === undefined
    ? [
        fieldError.required(
          `${field}.averageValue`,
          'must set either a target value for metric or a per-pod target',
        ),
      ]
    : []
}

function validateUtilization(
  { averageUtilization, averageValue }: AutoscalingV2MetricTarget,
  field: string,
): FieldError[] {
  if (averageUtilization === undefined)
    return averageValue === undefined
      ? [
          fieldError.required(
            `${field}.averageUtilization`,
            'must set either a target raw value or a target utilization',
          ),
        ]
      : []
  const errors: FieldError[] = []
  if (averageUtilization < 1)
    errors.push(
      fieldError.invalid(`${field}.averageUtilization`, averageUtilization, 'must be greater than 0'),
    )
  if (averageValue !== undefined)
    errors.push(
      fieldError.forbidden(
        `${field}.averageValue`,
        'may not set both a target raw value and a target utilization',
      ),
    )
  return errors
}

function validateRules(rules: AutoscalingV2HPAScalingRules | undefined, field: string): FieldError[] {
  if (!rules) return []
  const { stabilizationWindowSeconds: window = 0, policies = [], tolerance } = rules
  const errors: FieldError[] = []
  const at = `${field}.stabilizationWindowSeconds`
  if (window < 0) errors.push(fieldError.invalid(at, window, 'must be greater than or equal to zero'))
  if (window > longestWindowSeconds)
    errors.push(fieldError.invalid(at, window, `must be less than or equal to ${longestWindowSeconds}`))
  errors.push(...oneOf(rules.selectPolicy, ['Disabled', 'Max', 'Min'], `${field}.selectPolicy`))
  if (policies.length === 0)
    errors.push(fieldError.required(`${field}.policies`, 'must specify at least one Policy'))
  for (const [index, { type = '', value = 0, periodSeconds = 0 }] of policies.entries()) {
    const policy = `${field}.policies[${index}]`
    errors.push(...oneOf(type, ['Percent', 'Pods'], `${policy}.type`))
    if (value <= 0) errors.push(fieldError.invalid(`${policy}.value`, value, 'must be greater than zero'))
    if (periodSeconds <= 0)
      errors.push(fieldError.invalid(`${policy}.periodSeconds`, periodSeconds, 'must be greater than zero'))
    if (periodSeconds > longestPeriodSeconds)
      errors.push(
        fieldError.invalid(
          `${policy}.periodSeconds`,
          periodSeconds,
          `must be less than or equal to ${longestPeriodSeconds}`,
        ),
      )
  }
  if (tolerance?.startsWith('-'))
    errors.push(fieldError.invalid(`${field}.tolerance`, tolerance, 'must be greater than or equal to 0'))
  return errors
}
