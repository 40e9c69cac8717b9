// SPDX-License-Identifier: Apache-2.0

import { dns1123Label, type FieldError, fieldError, qualifiedName } from '@grove/apimachinery'
import type {
  Container,
  Pod,
  PodSpec,
  PodTemplateSpec,
  Toleration,
  Volume,
} from '../../schema/types.generated.ts'
import { validatePodClaims } from './pod-claims.ts'
import { validateResources } from './resources.ts'
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
      ['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'],
      `${field}.dnsPolicy`,
    ),
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
    ...validateTolerations(spec.tolerations ?? [], `${field}.tolerations`),
    ...validateGates(spec, field),
    ...validatePodClaims(spec, field),
  ]
}

function validateContainers(spec: PodSpec, volumes: ReadonlySet<string>, field: string): FieldError[] {
  const containers = spec.containers ?? []
  if (containers.length === 0) return [fieldError.required(`${field}.containers`)]
  const names = new Set<string>()
  return [
    ...containers.flatMap((container, index) =>
      validateContainer(container, names, volumes, `${field}.containers[${index}]`),
    ),
    ...(spec.initContainers ?? []).flatMap((container, index) =>
      validateContainer(container, names, volumes, `${field}.initContainers[${index}]`),
    ),
  ]
}

function validateContainer(
  container: Container,
  names: Set<string>,
  volumes: ReadonlySet<string>,
  field: string,
): FieldError[] {
  const errors: FieldError[] = []
  const { name = '', image = '' } = container
  if (name === '') errors.push(fieldError.required(`${field}.name`))
  else errors.push(...dns1123Label(name).map(problem => fieldError.invalid(`${field}.name`, name, problem)))
  if (names.has(name)) errors.push(fieldError.duplicate(`${field}.name`, name))
  names.add(name)
  if (image === '') errors.push(fieldError.required(`${field}.image`))
  else if (image.trim() !== image)
    errors.push(fieldError.invalid(`${field}.image`, image, 'must not have leading or trailing whitespace'))
  for (const [index, port] of (container.ports ?? []).entries())
    errors.push(...validatePort(port.containerPort, `${field}.ports[${index}].containerPort`))
  for (const [index, { name: variable = '' }] of (container.env ?? []).entries())
    if (variable === '') errors.push(fieldError.required(`${field}.env[${index}].name`))
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const at = `${field}.volumeMounts[${index}]`
    if (!mount.name) errors.push(fieldError.required(`${at}.name`))
    else if (!volumes.has(mount.name)) errors.push(fieldError.notFound(`${at}.name`, mount.name))
    if (!mount.mountPath) errors.push(fieldError.required(`${at}.mountPath`))
  }
  errors.push(
    ...oneOf(container.imagePullPolicy, ['Always', 'IfNotPresent', 'Never'], `${field}.imagePullPolicy`),
  )
  errors.push(...validateResources(container, `${field}.resources`))
  return errors
}

function validatePort(port: number | undefined, field: string): FieldError[] {
  if (port === undefined || port === 0) return [fieldError.required(field)]
  return port < 1 || port > 65535
    ? [fieldError.invalid(field, port, 'must be between 1 and 65535, inclusive')]
    : []
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

function validateTolerations(tolerations: readonly Toleration[], field: string): FieldError[] {
  return tolerations.flatMap((toleration, index) => {
    const at = `${field}[${index}]`
    if (!toleration.key && (toleration.operator ?? 'Equal') !== 'Exists')
      return [
        fieldError.invalid(
          `${at}.operator`,
          toleration.operator ?? '',
          'operator must be Exists when `key` is empty, which means "match all values and all keys"',
        ),
      ]
    if (toleration.tolerationSeconds !== undefined && toleration.effect !== 'NoExecute')
      return [
        fieldError.invalid(
          `${at}.effect`,
          toleration.effect ?? '',
          "effect must be 'NoExecute' when `tolerationSeconds` is set",
        ),
      ]
    return []
  })
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

function oneOf(value: string | undefined, supported: readonly string[], field: string): FieldError[] {
  return value ? anyOf(value, supported, field) : [fieldError.required(field)]
}
