// SPDX-License-Identifier: Apache-2.0

import { type FieldError, fieldError } from '@grove/apimachinery'
import type { LabelSelector, PodTemplateSpec } from '../../schema/types.generated.ts'
import { validatePodTemplate } from './pod.ts'

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
  return errors
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
