// SPDX-License-Identifier: Apache-2.0

import { isIPv6 } from 'node:net'
import {
  dns1123Label,
  dns1123Subdomain,
  type FieldError,
  fieldError,
  qualifiedName,
  validateLabels,
} from '@grove/apimachinery'
import type { Service, ServicePort, ServiceSpec } from '../../schema/types.generated.ts'
import { ipAddress, obeys, oneOf } from './values.ts'

const serviceTypes = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']
const families = ['IPv4', 'IPv6']
const longestAffinitySeconds = 86_400
const portRange = 'must be between 1 and 65535, inclusive'

/** A headless Service without selector. */
export function isHeadlessWithoutSelector({ clusterIP, selector }: ServiceSpec): boolean {
  return clusterIP === 'None' && !Object.keys(selector ?? {}).length
}

export function validateService(object: Service): FieldError[] {
  const { spec = {} } = object
  return [
    ...validateType(spec),
    ...validatePorts(spec),
    ...validateLabels(spec.selector ?? {}, 'spec.selector'),
    ...validateAffinity(spec),
    ...validateAddresses(spec),
    ...validateExternal(spec),
    ...oneOf(spec.internalTrafficPolicy, ['Cluster', 'Local'], 'spec.internalTrafficPolicy'),
    ...oneOf(
      spec.trafficDistribution,
      ['PreferClose', 'PreferSameZone', 'PreferSameNode'],
      'spec.trafficDistribution',
    ),
  ]
}

export function validateServiceStatus({ spec, status }: Service): FieldError[] {
  return spec?.type !== 'LoadBalancer' && status?.loadBalancer?.ingress?.length
    ? [
        fieldError.forbidden(
          'status.loadBalancer.ingress',
          "may only be used when `spec.type` is 'LoadBalancer'",
        ),
      ]
    : []
}

function validateType(spec: ServiceSpec): FieldError[] {
  const { type = '', clusterIP, clusterIPs } = spec
  switch (type) {
    case 'NodePort':
    case 'LoadBalancer':
      return clusterIP === 'None'
        ? [
            fieldError.invalid(
              'spec.clusterIPs[0]',
              clusterIP,
              `may not be set to 'None' for ${type} services`,
            ),
          ]
        : []
    case 'ExternalName':
      return [
        ...(clusterIP || clusterIPs?.length
          ? [fieldError.forbidden('spec.clusterIPs', 'may not be set for ExternalName services')]
          : []),
        ...(['ipFamilies', 'ipFamilyPolicy'] as const).flatMap(field =>
          spec[field]?.length
            ? [fieldError.forbidden(`spec.${field}`, 'may not be set for ExternalName services')]
            : [],
        ),
        ...(spec.externalName
          ? obeys(spec.externalName.replace(/\.$/, ''), dns1123Subdomain, 'spec.externalName')
          : [fieldError.required('spec.externalName')]),
      ]
    default:
      return oneOf(type, serviceTypes, 'spec.type')
  }
}

function validatePorts({ ports = [], type, clusterIP }: ServiceSpec): FieldError[] {
  if (ports.length === 0 && type !== 'ExternalName' && clusterIP !== 'None')
    return [fieldError.required('spec.ports')]
  const names = new Set<string>()
  const errors = ports.flatMap((port, index) => {
    const at = `spec.ports[${index}]`
    const name = port.name ?? ''
    const found = validatePort(port, at, ports.length > 1)
    if (name !== '' && names.has(name)) found.push(fieldError.duplicate(`${at}.name`, name))
    names.add(name)
    if (port.nodePort && (type === 'ClusterIP' || type === 'ExternalName'))
      found.push(fieldError.forbidden(`${at}.nodePort`, `may not be used when \`type\` is '${type}'`))
    return found
  })
  for (const [index, { port, protocol }] of ports.entries())
    if (ports.findIndex(other => other.port === port && other.protocol === protocol) < index)
      errors.push(
        fieldError.duplicate(`spec.ports[${index}]`, {
          Name: '',
          Protocol: protocol,
          AppProtocol: null,
          Port: port,
          TargetPort: 0,
          NodePort: 0,
        }),
      )
  return errors
}

function validatePort(port: ServicePort, at: string, isOneOfSeveral: boolean): FieldError[] {
  const { name = '', port: number = 0, targetPort, protocol = '', appProtocol } = port
  return [
    ...(name !== '' ? obeys(name, dns1123Label, `${at}.name`) : []),
    ...(name === '' && isOneOfSeveral ? [fieldError.required(`${at}.name`)] : []),
    ...(number < 1 || number > 65535 ? [fieldError.invalid(`${at}.port`, number, portRange)] : []),
    ...oneOf(protocol, ['SCTP', 'TCP', 'UDP'], `${at}.protocol`),
    ...validateTargetPort(targetPort, `${at}.targetPort`),
    ...(appProtocol === undefined ? [] : obeys(appProtocol, qualifiedName, `${at}.appProtocol`)),
  ]
}

function validateTargetPort(target: number | string | undefined, field: string): FieldError[] {
  if (typeof target === 'string') return obeys(target, portName, field)
  return target !== undefined && (target < 1 || target > 65535)
    ? [fieldError.invalid(field, target, portRange)]
    : []
}

/** Validates the name of a container port. */
function portName(text: string): string[] {
  const problems: string[] = []
  if (text.length > 15) problems.push('must be no more than 15 characters')
  if (!/^[-a-z0-9]+$/.test(text))
    problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)')
  if (!/[a-z]/.test(text)) problems.push('must contain at least one letter (a-z)')
  if (text.includes('--')) problems.push('must not contain consecutive hyphens')
  if (text.startsWith('-') || text.endsWith('-')) problems.push('must not begin or end with a hyphen')
  return problems
}

function validateAffinity({ sessionAffinity, sessionAffinityConfig }: ServiceSpec): FieldError[] {
  const seconds = sessionAffinityConfig?.clientIP?.timeoutSeconds
  return [
    ...oneOf(sessionAffinity, ['ClientIP', 'None'], 'spec.sessionAffinity'),
    ...(sessionAffinity === 'ClientIP' &&
    seconds !== undefined &&
    (seconds <= 0 || seconds > longestAffinitySeconds)
      ? [
          fieldError.invalid(
            'spec.sessionAffinityConfig.clientIP.timeoutSeconds',
            seconds,
            `must be greater than 0 and less than ${longestAffinitySeconds}`,
          ),
        ]
      : []),
  ]
}

function validateAddresses(spec: ServiceSpec): FieldError[] {
  const { clusterIP, clusterIPs = [], type } = spec
  if (type === 'ExternalName') return []
  const rejection = (why: string) => [fieldError.invalid('spec.clusterIPs', clusterIPs, why)]
  if (!clusterIP) return rejection('must be empty when `clusterIP` is not specified')
  if (clusterIPs[0] !== clusterIP) return rejection('first value must match `clusterIP`')
  if (clusterIP === 'None')
    return clusterIPs.length > 1
      ? rejection("'None' must be the first and only value")
      : validateFamilies(spec)
  const malformed = clusterIPs.flatMap((address, index) =>
    obeys(address, ipAddress, `spec.clusterIPs[${index}]`),
  )
  if (malformed.length > 0) return malformed
  if (clusterIPs.length > new Set(clusterIPs.map(isIPv6)).size)
    return rejection('may specify no more than one IP for each IP family')
  if (isIPv6(clusterIP) && spec.ipFamilies?.[0] !== 'IPv6')
    return [fieldError.invalid('spec.clusterIPs[0]', clusterIPs, 'IPv6 is not configured on this cluster')]
  const wrong = clusterIPs.flatMap((address, index) => {
    const family = spec.ipFamilies?.[index]
    return family &&
      families.includes(family) &&
      (family === 'IPv6') !== isIPv6(address) &&
      spec.ipFamilies?.length === 1
      ? [
          fieldError.invalid(
            `spec.clusterIPs[${index}]`,
            address,
            `expected an ${family} value as indicated by \`ipFamilies[${index}]\``,
          ),
        ]
      : []
  })
  const found = validateFamilies(spec)
  return found.length > 0 ? found : wrong
}

/** The cluster has one address family. A headless Service without selector may have both. */
function validateFamilies(spec: ServiceSpec): FieldError[] {
  const { ipFamilies = [], ipFamilyPolicy = '' } = spec
  const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack']
  const errors = oneOf(ipFamilyPolicy, policies, 'spec.ipFamilyPolicy')
  for (const [index, family] of ipFamilies.entries()) {
    const at = `spec.ipFamilies[${index}]`
    errors.push(...oneOf(family, families, at))
    if (ipFamilies.indexOf(family) < index) errors.push(fieldError.duplicate(at, family))
  }
  if (errors.length > 0 || isHeadlessWithoutSelector(spec)) return errors
  if (ipFamilyPolicy === 'RequireDualStack')
    return [
      fieldError.invalid(
        'spec.ipFamilyPolicy',
        ipFamilyPolicy,
        'this cluster is not configured for dual-stack services',
      ),
    ]
  if (ipFamilies.length > 1 && ipFamilyPolicy === 'SingleStack')
    return [
      fieldError.invalid(
        'spec.ipFamilyPolicy',
        ipFamilyPolicy,
        "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified",
      ),
    ]
  return ipFamilies[0] === 'IPv6'
    ? [fieldError.invalid('spec.ipFamilies[0]', 'IPv6', 'not configured on this cluster')]
    : []
}

/** Validates the fields of external Services. */
function validateExternal(spec: ServiceSpec): FieldError[] {
  const { type, externalIPs = [], externalTrafficPolicy } = spec
  const isBalanced = type === 'LoadBalancer'
  const isReached = isBalanced || type === 'NodePort' || externalIPs.length > 0
  const onlyBalanced = "may only be used when `type` is 'LoadBalancer'"
  return [
    ...externalIPs.flatMap((address, index) => {
      const at = `spec.externalIPs[${index}]`
      return address.startsWith('127.')
        ? [fieldError.invalid(at, address, 'may not be in the loopback range (127.0.0.0/8, ::1/128)')]
        : obeys(address, ipAddress, at)
    }),
    ...(externalTrafficPolicy !== undefined && !isReached
      ? [
          fieldError.invalid(
            'spec.externalTrafficPolicy',
            externalTrafficPolicy,
            'may only be set for externally-accessible services',
          ),
        ]
      : oneOf(externalTrafficPolicy, ['Cluster', 'Local'], 'spec.externalTrafficPolicy')),
    ...(spec.loadBalancerSourceRanges?.length && !isBalanced
      ? [fieldError.forbidden('spec.LoadBalancerSourceRanges', onlyBalanced)]
      : []),
    ...(spec.allocateLoadBalancerNodePorts !== undefined && !isBalanced
      ? [fieldError.forbidden('spec.allocateLoadBalancerNodePorts', onlyBalanced)]
      : []),
    ...validateClass(spec.loadBalancerClass, isBalanced ? undefined : onlyBalanced),
    ...(spec.healthCheckNodePort && !(isBalanced && externalTrafficPolicy === 'Local')
      ? [
          fieldError.invalid(
            'spec.healthCheckNodePort',
            spec.healthCheckNodePort,
            "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
          ),
        ]
      : []),
  ]
}

function validateClass(name: string | undefined, why: string | undefined): FieldError[] {
  if (name === undefined) return []
  return why === undefined
    ? obeys(name, qualifiedName, 'spec.loadBalancerClass')
    : [fieldError.forbidden('spec.loadBalancerClass', why)]
}
