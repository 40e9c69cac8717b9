// SPDX-License-Identifier: Apache-2.0

import { equalJson, type FieldError, fieldError } from '@grove/apimachinery'
import type {
  CoordinationLease,
  PolicyPodDisruptionBudget,
  RbacClusterRole,
  RbacRole,
  RbacRoleBinding,
  SchedulingPriorityClass,
} from '../../schema/types.generated.ts'
import type { Strategy } from '../resource.ts'
import { validateBinding, validateRules } from '../validation/access.ts'
import { validateLabelSelector } from '../validation/label-selector.ts'
import { atLeast, countOrPercentage, oneOf, pathSegmentName } from '../validation/values.ts'

export const roleStrategy: Partial<Strategy<RbacRole>> = {
  createOnUpdate: true,
  nameRule: pathSegmentName,
  validate: ({ rules }) => validateRules(rules, { isNamespaced: true }),
}

export const clusterRoleStrategy: Partial<Strategy<RbacClusterRole>> = {
  createOnUpdate: true,
  nameRule: pathSegmentName,
  validate: ({ rules }) => validateRules(rules, { isNamespaced: false }),
}

export const roleBindingStrategy = bindingStrategy(['Role', 'ClusterRole'])
export const clusterRoleBindingStrategy = bindingStrategy(['ClusterRole'])

function bindingStrategy(roleKinds: readonly string[]): Partial<Strategy<RbacRoleBinding>> {
  return {
    createOnUpdate: true,
    nameRule: pathSegmentName,
    validate: object => validateBinding(object, roleKinds),
    validateUpdate(object, old) {
      const { roleRef } = object
      const errors = validateBinding(object, roleKinds)
      return equalJson(roleRef, old.roleRef)
        ? errors
        : [
            ...errors,
            fieldError.immutable('roleRef', {
              APIGroup: roleRef?.apiGroup,
              Kind: roleRef?.kind,
              Name: roleRef?.name,
            }),
          ]
    },
  }
}

export const leaseStrategy: Partial<Strategy<CoordinationLease>> = {
  createOnUpdate: true,
  requireResourceVersion: true,
  prepareForCreate: withoutElection,
  prepareForUpdate: withoutElection,
  validate(object) {
    const { leaseDurationSeconds: seconds, leaseTransitions } = object.spec ?? {}
    return [
      ...(seconds !== undefined && seconds <= 0
        ? [fieldError.invalid('spec.leaseDurationSeconds', seconds, 'must be greater than 0')]
        : []),
      ...atLeast(0, leaseTransitions, 'spec.leaseTransitions'),
    ]
  },
}

/** Drops the fields of coordinated leader election, which is disabled by default in Kubernetes. */
function withoutElection({ spec }: CoordinationLease): void {
  delete spec?.strategy
  delete spec?.preferredHolder
}

export const budgetStrategy: Partial<Strategy<PolicyPodDisruptionBudget>> = {
  hasGeneration: true,
  requireResourceVersion: true,
  validate(object) {
    const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy: policy } = object.spec ?? {}
    const errors: FieldError[] = []
    if (minAvailable !== undefined && maxUnavailable !== undefined)
      errors.push(
        fieldError.invalid(
          'spec',
          {
            MinAvailable: minAvailable,
            Selector: selector ?? null,
            MaxUnavailable: maxUnavailable,
            UnhealthyPodEvictionPolicy: policy ?? null,
          },
          'minAvailable and maxUnavailable cannot be both set',
        ),
      )
    return [
      ...errors,
      ...countOrPercentage(minAvailable, 'spec.minAvailable'),
      ...countOrPercentage(maxUnavailable, 'spec.maxUnavailable'),
      ...oneOf(policy, ['AlwaysAllow', 'IfHealthyBudget'], 'spec.unhealthyPodEvictionPolicy'),
      ...validateLabelSelector(selector, 'spec.selector'),
    ]
  },
  validateStatusUpdate(object) {
    const { status = {} } = object
    return (['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] as const).flatMap(
      count => atLeast(0, status[count], `status.${count}`),
    )
  },
}

/** The built-in priority classes and their values. */
export const systemPriorities: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
}

const highestUserPriority = 1_000_000_000

export const priorityClassStrategy: Partial<Strategy<SchedulingPriorityClass>> = {
  hasGeneration: true,
  validate(object) {
    const { value = 0, preemptionPolicy } = object
    const name = object.metadata.name ?? ''
    return [
      ...(name.startsWith('system-')
        ? validateSystemPriority(name, value)
        : value > highestUserPriority
          ? [
              fieldError.forbidden(
                'value',
                `maximum allowed value of a user defined priority is ${highestUserPriority}`,
              ),
            ]
          : []),
      ...oneOf(preemptionPolicy, ['PreemptLowerPriority', 'Never'], 'preemptionPolicy'),
    ]
  },
  validateUpdate(now, before) {
    const errors = []
    if ((now.value ?? 0) !== (before.value ?? 0))
      errors.push(fieldError.forbidden('value', 'may not be changed in an update.'))
    if (now.preemptionPolicy !== before.preemptionPolicy)
      errors.push(fieldError.immutable('preemptionPolicy', now.preemptionPolicy))
    return errors
  },
}

function validateSystemPriority(name: string, value: number): FieldError[] {
  const wanted = systemPriorities[name]
  if (wanted === value) return []
  const why =
    wanted === undefined
      ? `${name} is not a known system priority class`
      : `value of ${name} PriorityClass must be ${wanted}`
  return [
    fieldError.forbidden(
      'metadata.name',
      `priority class names with 'system-' prefix are reserved for system use only. error: ${why}`,
    ),
  ]
}
