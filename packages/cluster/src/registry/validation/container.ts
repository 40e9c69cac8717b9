// SPDX-License-Identifier: Apache-2.0

import { dns1123Label, type FieldError, fieldError, type NameRule } from '@grove/apimachinery'
import type { Container, ContainerPort, EnvVar, PodSpec, VolumeMount } from '../../schema/types.generated.ts'
import { validateResources } from './resources.ts'
import { between, obeys, oneOf } from './values.ts'

export function validateContainers(spec: PodSpec, volumes: ReadonlySet<string>, field: string): FieldError[] {
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
  const { name = '', image = '', imagePullPolicy: policy } = container
  if (name === '') errors.push(fieldError.required(`${field}.name`))
  else errors.push(...obeys(name, dns1123Label, `${field}.name`))
  if (names.has(name)) errors.push(fieldError.duplicate(`${field}.name`, name))
  names.add(name)
  if (image === '') errors.push(fieldError.required(`${field}.image`))
  else if (image.trim() !== image)
    errors.push(fieldError.invalid(`${field}.image`, image, 'must not have leading or trailing whitespace'))
  errors.push(
    ...validatePorts(container.ports ?? [], `${field}.ports`),
    ...validateEnvironment(container.env ?? [], `${field}.env`),
    ...validateMounts(container.volumeMounts ?? [], volumes, `${field}.volumeMounts`),
    ...(policy
      ? oneOf(policy, ['Always', 'IfNotPresent', 'Never'], `${field}.imagePullPolicy`)
      : [fieldError.required(`${field}.imagePullPolicy`)]),
    ...validateResources(container, `${field}.resources`),
  )
  return errors
}

const portNumbers = [1, 65535] as const

function validatePorts(ports: readonly ContainerPort[], field: string): FieldError[] {
  const names = new Set<string>()
  return ports.flatMap(({ name, containerPort, hostPort, protocol }, index) => {
    const at = `${field}[${index}]`
    const errors: FieldError[] = []
    if (name) {
      const problems = obeys(name, portName, `${at}.name`)
      errors.push(...problems)
      if (problems.length === 0 && names.has(name)) errors.push(fieldError.duplicate(`${at}.name`, name))
      names.add(name)
    }
    if (containerPort) errors.push(...between(portNumbers, containerPort, `${at}.containerPort`))
    else errors.push(fieldError.required(`${at}.containerPort`))
    if (hostPort) errors.push(...between(portNumbers, hostPort, `${at}.hostPort`))
    errors.push(...oneOf(protocol, ['SCTP', 'TCP', 'UDP'], `${at}.protocol`))
    return errors
  })
}

const portName: NameRule = text => [
  ...(text.length > 15 ? ['must be no more than 15 characters'] : []),
  ...(/^[-a-z0-9]+$/.test(text)
    ? []
    : ['must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)']),
  ...(/[a-z]/.test(text) ? [] : ['must contain at least one letter (a-z)']),
  ...(text.includes('--') ? ['must not contain consecutive hyphens'] : []),
  ...(text.startsWith('-') || text.endsWith('-') ? ['must not begin or end with a hyphen'] : []),
]

function validateEnvironment(variables: readonly EnvVar[], field: string): FieldError[] {
  return variables.flatMap(({ name = '', value, valueFrom }, index) => {
    const at = `${field}[${index}]`
    const errors =
      name === '' ? [fieldError.required(`${at}.name`)] : obeys(name, environmentVariable, `${at}.name`)
    if (!valueFrom) return errors
    if (value) errors.push(fieldError.invalid(`${at}.valueFrom`, '', sourceAndValue))
    else if (Object.keys(valueFrom).length === 0)
      errors.push(fieldError.invalid(`${at}.valueFrom`, '', noSource))
    return errors
  })
}

const sourceAndValue = 'may not be specified when `value` is not empty'
const noSource =
  'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`'

const environmentVariable: NameRule = text =>
  /^[ -<>-~]+$/.test(text)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"]

function validateMounts(
  mounts: readonly VolumeMount[],
  volumes: ReadonlySet<string>,
  field: string,
): FieldError[] {
  const paths = new Set<string>()
  return mounts.flatMap(({ name, mountPath = '' }, index) => {
    const at = `${field}[${index}]`
    const errors: FieldError[] = []
    if (!name) errors.push(fieldError.required(`${at}.name`))
    else if (!volumes.has(name)) errors.push(fieldError.notFound(`${at}.name`, name))
    if (mountPath === '') errors.push(fieldError.required(`${at}.mountPath`))
    if (paths.has(mountPath)) errors.push(fieldError.invalid(`${at}.mountPath`, mountPath, 'must be unique'))
    paths.add(mountPath)
    return errors
  })
}
