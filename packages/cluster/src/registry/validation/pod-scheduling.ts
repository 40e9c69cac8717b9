// SPDX-License-Identifier: Apache-2.0

import {
  dns1123Subdomain,
  type FieldError,
  fieldError,
  labelValue,
  qualifiedName,
  validateLabels,
} from '@grove/apimachinery'
import type { PodSpec, Toleration, TopologySpreadConstraint } from '../../schema/types.generated.ts'
import { obeys } from './values.ts'

/** Validates the fields that choose nodes for a pod, in the order of the real API server. */
export function validatePodScheduling(spec: PodSpec, field: string): FieldError[] {
  return [
    ...validateLabels(spec.nodeSelector ?? {}, `${field}.nodeSelector`),
    ...validateGates(spec, field),
    ...validateSpread(spec.topologySpreadConstraints ?? [], `${field}.topologySpreadConstraints`),
    ...(spec.nodeName ? obeys(spec.nodeName, dns1123Subdomain, `${field}.nodeName`) : []),
  ]
}

function validateGates(spec: PodSpec, field: string): FieldError[] {
  const names = new Set<string>()
  return (spec.schedulingGates ?? []).flatMap(({ name = '' }, index) => {
    const at = `${field}.schedulingGates[${index}]`
    if (names.has(name)) return [fieldError.duplicate(at, name)]
    names.add(name)
    return obeys(name, qualifiedName, at)
  })
}

function validateSpread(constraints: readonly TopologySpreadConstraint[], field: string): FieldError[] {
  return constraints.flatMap(
    ({ maxSkew = 0, minDomains, topologyKey = '', whenUnsatisfiable = '' }, index) => {
      const at = `${field}[${index}]`
      const errors: FieldError[] = []
      if (maxSkew <= 0) errors.push(fieldError.invalid(`${at}.maxSkew`, maxSkew, 'must be greater than zero'))
      if (topologyKey === '') errors.push(fieldError.required(`${at}.topologyKey`, 'can not be empty'))
      if (!['DoNotSchedule', 'ScheduleAnyway'].includes(whenUnsatisfiable))
        errors.push(
          fieldError.unsupported(`${at}.whenUnsatisfiable`, whenUnsatisfiable, [
            'DoNotSchedule',
            'ScheduleAnyway',
          ]),
        )
      if (minDomains !== undefined && minDomains <= 0)
        errors.push(fieldError.invalid(`${at}.minDomains`, minDomains, 'must be greater than zero'))
      else if (minDomains !== undefined && whenUnsatisfiable !== 'DoNotSchedule')
        errors.push(
          fieldError.invalid(
            `${at}.minDomains`,
            minDomains,
            `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`,
          ),
        )
      // The API server reports the first of two equal constraints.
      const isRepeated = constraints
        .slice(index + 1)
        .some(later => later.topologyKey === topologyKey && later.whenUnsatisfiable === whenUnsatisfiable)
      if (isRepeated)
        errors.push(
          fieldError.duplicate(
            `${at}.{topologyKey, whenUnsatisfiable}`,
            `{${topologyKey}, ${whenUnsatisfiable}}`,
          ),
        )
      return errors
    },
  )
}

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

export function validateTolerations(tolerations: readonly Toleration[], field: string): FieldError[] {
  return tolerations.flatMap((toleration, index) => {
    const at = `${field}[${index}]`
    const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = toleration
    const errors = key === '' ? [] : obeys(key, qualifiedName, `${at}.key`)
    if (key === '' && operator !== 'Exists')
      errors.push(
        fieldError.invalid(
          `${at}.operator`,
          operator,
          'operator must be Exists when `key` is empty, which means "match all values and all keys"',
        ),
      )
    if (tolerationSeconds !== undefined && effect !== 'NoExecute')
      errors.push(
        fieldError.invalid(
          `${at}.effect`,
          effect,
          "effect must be 'NoExecute' when `tolerationSeconds` is set",
        ),
      )
    errors.push(...validateOperator(operator, value, `${at}.operator`))
    if (effect !== '' && !effects.includes(effect))
      errors.push(fieldError.unsupported(`${at}.effect`, effect, effects))
    return errors
  })
}

/** The API server reports a wrong value at the operator. */
function validateOperator(operator: string, value: string, field: string): FieldError[] {
  if (operator === 'Equal' || operator === '') return obeys(value, labelValue, field)
  if (operator === 'Exists')
    return value === ''
      ? []
      : [fieldError.invalid(field, value, "value must be empty when `operator` is 'Exists'")]
  // Gt and Lt are behind a feature gate that is off by default. Only their message mentions them.
  const gated = ['Lt', 'Gt']
  return [
    fieldError.unsupported(field, operator, ['Equal', 'Exists', ...(gated.includes(operator) ? gated : [])]),
  ]
}
