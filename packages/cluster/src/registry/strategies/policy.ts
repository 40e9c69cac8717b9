// SPDX-License-Identifier: Apache-2.0

import { equalJson, fieldError, type NameRule } from '@grove/apimachinery'
import type {
  CoordinationLease,
  PolicyPodDisruptionBudget,
  RbacRoleBinding,
  SchedulingPriorityClass,
} from '../../schema/types.generated.ts'
import type { Strategy } from '../resource.ts'

/** Names that only have to fit into a path: those of roles and their bindings. */
export const pathSegmentName: NameRule = text => {
  if (text === '.' || text === '..') return [`may not be '${text}'`]
  return ['/', '%'].filter(char => text.includes(char)).map(char => `may not contain '${char}'`)
}

export const bindingStrategy: Partial<Strategy> = {
  createOnUpdate: true,
  nameRule: pathSegmentName,
  validate(object) {
    const { roleRef } = object as unknown as RbacRoleBinding
    return roleRef?.name ? [] : [fieldError.required('roleRef.name')]
  },
  validateUpdate(object, old) {
    const { roleRef } = object as unknown as RbacRoleBinding
    return equalJson(roleRef, (old as unknown as RbacRoleBinding).roleRef)
      ? []
      : [
          fieldError.immutable('roleRef', {
            APIGroup: roleRef?.apiGroup,
            Kind: roleRef?.kind,
            Name: roleRef?.name,
          }),
        ]
  },
}

export const leaseStrategy: Partial<Strategy> = {
  createOnUpdate: true,
  requireResourceVersion: true,
  validate(object) {
    const { spec } = object as unknown as CoordinationLease
    if (spec?.leaseDurationSeconds !== undefined && spec.leaseDurationSeconds <= 0)
      return [
        fieldError.invalid('spec.leaseDurationSeconds', spec.leaseDurationSeconds, 'must be greater than 0'),
      ]
    return []
  },
}

export const budgetStrategy: Partial<Strategy> = {
  hasGeneration: true,
  requireResourceVersion: true,
  validate(object) {
    const { spec } = object as unknown as PolicyPodDisruptionBudget
    if (spec?.minAvailable !== undefined && spec.maxUnavailable !== undefined)
      return [fieldError.invalid('spec', spec, 'minAvailable and maxUnavailable cannot be both set')]
    return []
  },
}

export const priorityClassStrategy: Partial<Strategy> = {
  hasGeneration: true,
  validate(object) {
    const { value = 0 } = object as unknown as SchedulingPriorityClass
    const name = object.metadata.name ?? ''
    if (name.startsWith('system-') && !['system-node-critical', 'system-cluster-critical'].includes(name))
      return [
        fieldError.forbidden(
          'metadata.name',
          "priority class names with 'system-' prefix are reserved for system use only. error: only system-node-critical and system-cluster-critical may use that prefix",
        ),
      ]
    return !name.startsWith('system-') && value > 1_000_000_000
      ? [fieldError.forbidden('value', 'maximum allowed value of a user defined priority is 1000000000')]
      : []
  },
  validateUpdate(object, old) {
    const now = object as unknown as SchedulingPriorityClass
    const before = old as unknown as SchedulingPriorityClass
    const errors = []
    if ((now.value ?? 0) !== (before.value ?? 0))
      errors.push(fieldError.forbidden('value', 'may not be changed in an update.'))
    if (now.preemptionPolicy !== before.preemptionPolicy)
      errors.push(fieldError.immutable('preemptionPolicy', now.preemptionPolicy))
    return errors
  },
}
