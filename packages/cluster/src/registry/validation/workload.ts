// SPDX-License-Identifier: Apache-2.0

import { type FieldError, fieldError } from '@grove/apimachinery'
import type {
  AppsDeployment,
  AppsDeploymentStrategy,
  LabelSelector,
  PodTemplateSpec,
} from '../../schema/types.generated.ts'
import { validatePodTemplate } from './pod.ts'
import { atLeast, countOrPercentage } from './values.ts'

interface WorkloadSpec {
  readonly replicas?: number
  readonly selector?: LabelSelector
  readonly template?: PodTemplateSpec
}

/** A kind that creates pods from a template. */
export interface Workload {
  readonly spec?: WorkloadSpec
}

/** The validation that all kinds with a pod template share. */
export function validateWorkload(
  { spec = {} }: Workload,
  rules: { readonly selector: boolean } = { selector: true },
): FieldError[] {
  const errors: FieldError[] = []
  if (spec.replicas !== undefined && spec.replicas < 0)
    errors.push(fieldError.invalid('spec.replicas', spec.replicas, 'must be greater than or equal to 0'))
  if (rules.selector) errors.push(...validateSelector(spec))
  errors.push(...validatePodTemplate(spec.template, 'spec.template'))
  if (rules.selector) errors.push(...validateRestartPolicy(spec.template))
  return errors
}

/** Pods of these kinds run forever. The pod validation reports values that no pod can have. */
function validateRestartPolicy(template: PodTemplateSpec | undefined): FieldError[] {
  const policy = template?.spec?.restartPolicy
  return policy === 'OnFailure' || policy === 'Never'
    ? [fieldError.unsupported('spec.template.spec.restartPolicy', policy, ['Always'])]
    : []
}

export function validateDeployment(object: AppsDeployment): FieldError[] {
  const { spec = {} } = object
  const { minReadySeconds, revisionHistoryLimit, progressDeadlineSeconds: deadline } = spec
  return [
    ...validateWorkload(object),
    ...validateStrategy(spec.strategy ?? {}),
    ...atLeast(0, minReadySeconds, 'spec.minReadySeconds'),
    ...atLeast(0, revisionHistoryLimit, 'spec.revisionHistoryLimit'),
    ...(deadline !== undefined && deadline <= (minReadySeconds ?? 0)
      ? [fieldError.invalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds')]
      : []),
  ]
}

function validateStrategy({ type = '', rollingUpdate }: AppsDeploymentStrategy): FieldError[] {
  const field = 'spec.strategy'
  if (type === 'Recreate')
    return rollingUpdate
      ? [
          fieldError.forbidden(
            `${field}.rollingUpdate`,
            "may not be specified when strategy `type` is 'Recreate'",
          ),
        ]
      : []
  if (type !== 'RollingUpdate')
    return [fieldError.unsupported(field, { Type: type, RollingUpdate: null }, ['Recreate', 'RollingUpdate'])]
  const { maxUnavailable = 0, maxSurge = 0 } = rollingUpdate ?? {}
  const errors = [
    ...countOrPercentage(maxUnavailable, `${field}.rollingUpdate.maxUnavailable`),
    ...countOrPercentage(maxSurge, `${field}.rollingUpdate.maxSurge`, { limit: Number.POSITIVE_INFINITY }),
  ]
  if (errors.length === 0 && isZero(maxUnavailable) && isZero(maxSurge))
    errors.push(
      fieldError.invalid(
        `${field}.rollingUpdate.maxUnavailable`,
        maxUnavailable,
        'may not be 0 when `maxSurge` is 0',
      ),
    )
  return errors
}

function isZero(value: number | string): boolean {
  return Number.parseInt(String(value), 10) === 0
}

function validateSelector({ selector, template }: WorkloadSpec): FieldError[] {
  if (!selector) {
    return [
      fieldError.required('spec.selector'),
      fieldError.invalid(
        'spec.template.metadata.labels',
        template?.metadata?.labels ?? null,
        '`selector` does not match template `labels`',
      ),
    ]
  }
  if (!selector.matchLabels && !selector.matchExpressions)
    return [fieldError.invalid('spec.selector', selector, 'empty selector is invalid for deployment')]
  const labels = template?.metadata?.labels ?? {}
  return selectorMatches(selector, labels)
    ? []
    : [
        fieldError.invalid(
          'spec.template.metadata.labels',
          template?.metadata?.labels ?? null,
          '`selector` does not match template `labels`',
        ),
      ]
}

export function selectorMatches(selector: LabelSelector, labels: Readonly<Record<string, string>>): boolean {
  for (const [key, value] of Object.entries(selector.matchLabels ?? {}))
    if (labels[key] !== value) return false
  for (const { key = '', operator, values = [] } of selector.matchExpressions ?? []) {
    const has = Object.hasOwn(labels, key)
    if (operator === 'In' && !(has && values.includes(labels[key]!))) return false
    if (operator === 'NotIn' && has && values.includes(labels[key]!)) return false
    if (operator === 'Exists' && !has) return false
    if (operator === 'DoesNotExist' && has) return false
  }
  return true
}
