// SPDX-License-Identifier: Apache-2.0

import { type FieldError, fieldError } from '@grove/apimachinery'
import {
  enabledSchedulers,
  type OperatorConfiguration,
  topologyAwareSchedulers,
} from '../configuration/index.ts'
import type { ClusterTopologyBinding, SchedulerTopologyBinding, TopologyLevel } from '../types/index.ts'

/**
 * Validates a ClusterTopologyBinding on create and update. The order of the levels, broad to narrow, cannot be checked
 * here. Levels in use may be removed: workloads that use them get a condition.
 */
export function validateClusterTopologyBinding(
  binding: ClusterTopologyBinding,
  configuration: OperatorConfiguration,
): FieldError[] {
  return [
    ...validateLevels(listOf(binding?.spec?.levels)),
    ...validateSchedulers(listOf(binding?.spec?.schedulerTopologyBindings), configuration),
  ]
}

/** The schema guarantees lists of objects, but the webhook also receives requests that no API server has checked. */
function listOf<T>(value: readonly T[] | undefined): readonly T[] {
  return Array.isArray(value) ? value.filter(entry => typeof entry === 'object' && entry !== null) : []
}

function validateLevels(levels: readonly TopologyLevel[]): FieldError[] {
  const domains = new Set<string>()
  const keys = new Set<string>()
  const errors: FieldError[] = []
  levels.forEach(({ domain, key }, index) => {
    if (domains.has(domain)) errors.push(fieldError.duplicate(`spec.levels[${index}].domain`, domain))
    if (keys.has(key)) errors.push(fieldError.duplicate(`spec.levels[${index}].key`, key))
    domains.add(domain)
    keys.add(key)
  })
  return errors
}

/** The paths use an older name of the field, because users and tools match these errors. */
function validateSchedulers(
  bindings: readonly SchedulerTopologyBinding[],
  configuration: OperatorConfiguration,
): FieldError[] {
  const enabled = enabledSchedulers(configuration)
  const topologyAware = topologyAwareSchedulers(configuration)
  const seen = new Set<string>()
  const errors: FieldError[] = []
  bindings.forEach(({ schedulerName }, index) => {
    const field = `spec.schedulerTopologyReferences[${index}].schedulerName`
    if (seen.has(schedulerName)) errors.push(fieldError.duplicate(field, schedulerName))
    seen.add(schedulerName)
    if (!enabled.has(schedulerName)) {
      errors.push(fieldError.invalid(field, schedulerName, 'scheduler backend is not enabled in Grove'))
    } else if (!topologyAware.has(schedulerName)) {
      errors.push(
        fieldError.invalid(
          field,
          schedulerName,
          'scheduler backend does not implement topology-aware scheduling',
        ),
      )
    }
  })
  return errors
}
