// SPDX-License-Identifier: Apache-2.0

import { dns1123Label, type FieldError, fieldError } from '@grove/apimachinery'
import type { Pod, PodSpec, PodTemplateSpec, Volume } from '../../schema/types.generated.ts'
import { validateContainers } from './container.ts'
import { validatePodClaims } from './pod-claims.ts'
import { validatePodScheduling, validateTolerations } from './pod-scheduling.ts'
import { oneOf as anyOf, obeys } from './values.ts'

/**
 * Validates the common mistakes in pods. docs/embedded-cluster.md lists the checks of the real API server that
 * are missing.
 */
export function validatePod(object: Pod): FieldError[] {
  const { spec = {} } = object
  const errors = validatePodSpec(spec, 'spec')
  if (spec.nodeName && spec.schedulingGates?.length)
    errors.push(
      fieldError.forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared'),
    )
  return errors
}

export function validatePodTemplate(template: PodTemplateSpec | undefined, field: string): FieldError[] {
  return validatePodSpec(template?.spec ?? {}, `${field}.spec`)
}

export function validatePodSpec(spec: PodSpec, field: string): FieldError[] {
  const volumes = new Set((spec.volumes ?? []).map(({ name }) => name ?? ''))
  return [
    ...validateVolumes(spec.volumes ?? [], `${field}.volumes`),
    ...validateContainers(spec, volumes, field),
    ...oneOf(spec.restartPolicy, ['Always', 'OnFailure', 'Never'], `${field}.restartPolicy`),
    ...oneOf(
      spec.dnsPolicy,
      ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'],
      `${field}.dnsPolicy`,
    ),
    ...validatePodScheduling(spec, field),
    ...(spec.activeDeadlineSeconds !== undefined &&
    (spec.activeDeadlineSeconds < 1 || spec.activeDeadlineSeconds > 2147483647)
      ? [
          fieldError.invalid(
            `${field}.activeDeadlineSeconds`,
            spec.activeDeadlineSeconds,
            'must be between 1 and 2147483647, inclusive',
          ),
        ]
      : []),
    ...(spec.terminationGracePeriodSeconds !== undefined && spec.terminationGracePeriodSeconds < 0
      ? [
          fieldError.invalid(
            `${field}.terminationGracePeriodSeconds`,
            spec.terminationGracePeriodSeconds,
            'must be greater than or equal to 0',
          ),
        ]
      : []),
    ...(spec.hostname ? obeys(spec.hostname, dns1123Label, `${field}.hostname`) : []),
    ...(spec.subdomain ? obeys(spec.subdomain, dns1123Label, `${field}.subdomain`) : []),
    ...validateTolerations(spec.tolerations ?? [], `${field}.tolerations`),
    ...validatePodClaims(spec, field),
  ]
}

function validateVolumes(volumes: readonly Volume[], field: string): FieldError[] {
  const names = new Set<string>()
  return volumes.flatMap((volume, index) => {
    const at = `${field}[${index}]`
    const { name = '' } = volume
    const errors: FieldError[] = []
    if (name === '') errors.push(fieldError.required(`${at}.name`))
    else errors.push(...dns1123Label(name).map(problem => fieldError.invalid(`${at}.name`, name, problem)))
    if (names.has(name)) errors.push(fieldError.duplicate(`${at}.name`, name))
    names.add(name)
    return errors
  })
}

function oneOf(value: string | undefined, supported: readonly string[], field: string): FieldError[] {
  return value ? anyOf(value, supported, field) : [fieldError.required(field)]
}
