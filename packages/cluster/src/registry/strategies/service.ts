// SPDX-License-Identifier: Apache-2.0

import { dns1123Label, equalJson, type FieldError, fieldError } from '@grove/apimachinery'
import type { Service, ServicePort, ServiceSpec } from '../../schema/types.generated.ts'
import type { Strategy, StrategyContext } from '../resource.ts'
import { storages } from '../storages.ts'
import { isHeadlessWithoutSelector, validateService, validateServiceStatus } from '../validation/service.ts'

/** 10.96.0.0/16, the default of most clusters. .0.0 is the network and .0.1 is the API server. */
const networkPrefix = '10.96'
const firstAddress = 10
const lastAddress = 0xfffe
const nodePortRange = { first: 30_000, last: 32_767 }

export const serviceStrategy: Partial<Strategy<Service>> = {
  createOnUpdate: true,
  returnsDeleted: true,
  nameRule: dns1123Label,
  prepareForCreate(draft, context) {
    allocate(draft.spec ?? {}, undefined, context)
  },
  prepareForUpdate(draft, old, context) {
    const spec = draft.spec ?? {}
    const before = old.spec ?? {}
    dropFieldsOfOldType(spec, before)
    allocate(spec, before, context)
  },
  validate: validateService,
  validateUpdate: (object, old) => [...validateService(object), ...validateAddressUnchanged(object, old)],
  validateAmongOthers: (object, old, context) =>
    validateAllocation(object.spec ?? {}, old?.spec ?? {}, context),
  validateStatusUpdate: validateServiceStatus,
  warnings(object, old) {
    const { externalIPs, trafficDistribution } = object.spec ?? {}
    if (old) return []
    return [
      ...(externalIPs?.length
        ? ['spec.externalIPs is deprecated and may no longer be implemented in some clusters']
        : []),
      ...(trafficDistribution === 'PreferClose'
        ? ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"']
        : []),
    ]
  },
}

const addressFields = ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'] as const

/** Drops fields that only the old type supports, so that a client can change the type alone. */
function dropFieldsOfOldType(spec: ServiceSpec, old: ServiceSpec): void {
  const isSame = (field: keyof ServiceSpec) => equalJson(spec[field], old[field])
  if (spec.type === 'ExternalName' && old.type !== 'ExternalName') {
    for (const field of addressFields) delete spec[field]
    if (isSame('internalTrafficPolicy')) delete spec.internalTrafficPolicy
  }
  if (!isExternal(spec) && isExternal(old) && isSame('externalTrafficPolicy'))
    delete spec.externalTrafficPolicy
  if (spec.type !== 'LoadBalancer' && old.type === 'LoadBalancer')
    for (const field of ['allocateLoadBalancerNodePorts', 'loadBalancerClass'] as const)
      if (isSame(field)) delete spec[field]
  if (wantsNodePorts(old) && !wantsNodePorts(spec))
    for (const port of spec.ports ?? [])
      if (port.nodePort === samePort(old, port)?.nodePort) delete port.nodePort
}

/** Allocates addresses and ports. An update without them keeps the old ones. */
function allocate(spec: ServiceSpec, old: ServiceSpec | undefined, context: StrategyContext): void {
  if (spec.type === 'ExternalName') return
  const kept = old && old.type !== 'ExternalName' ? old : undefined
  if (kept) {
    const asBefore = spec.clusterIPs === undefined || equalJson(spec.clusterIPs, kept.clusterIPs)
    spec.clusterIP ||= asBefore ? kept.clusterIP : spec.clusterIP
    if (asBefore && spec.clusterIP === kept.clusterIP) spec.clusterIPs = kept.clusterIPs
    else if (asBefore) delete spec.clusterIPs
  }
  if (!spec.clusterIP && !spec.clusterIPs?.length) spec.clusterIP = freeAddress(context)
  if (!spec.clusterIPs?.length) spec.clusterIPs = [spec.clusterIP!]
  setFamilies(spec, kept)
  if (wantsNodePorts(spec)) allocateNodePorts(spec, kept, context)
}

function allocateNodePorts(spec: ServiceSpec, old: ServiceSpec | undefined, context: StrategyContext): void {
  let used: Set<number | undefined> | undefined
  for (const port of spec.ports ?? []) {
    port.nodePort ||= old && samePort(old, port)?.nodePort
    if (port.nodePort) continue
    used ??= new Set([...usedPorts(context), ...(spec.ports ?? []).map(({ nodePort }) => nodePort)])
    port.nodePort = freeNodePort(used, context)
    used.add(port.nodePort)
  }
}

/** A headless Service without selector has manual endpoints, which may have any address family. */
function setFamilies(spec: ServiceSpec, old: ServiceSpec | undefined): void {
  if (isHeadlessWithoutSelector(spec)) {
    const [first = 'IPv4'] = spec.ipFamilies ?? old?.ipFamilies ?? []
    spec.ipFamilyPolicy ??= old?.ipFamilyPolicy ?? 'RequireDualStack'
    if (spec.ipFamilyPolicy !== 'SingleStack')
      spec.ipFamilies = first === 'IPv6' ? ['IPv6', 'IPv4'] : ['IPv4', 'IPv6']
  }
  spec.ipFamilies ??= old?.ipFamilies ?? ['IPv4']
  spec.ipFamilyPolicy ??= old?.ipFamilyPolicy ?? 'SingleStack'
}

function samePort(spec: ServiceSpec, { port, protocol }: ServicePort): ServicePort | undefined {
  return spec.ports?.find(other => other.port === port && other.protocol === protocol)
}

function isExternal({ type, externalIPs }: ServiceSpec): boolean {
  return type === 'NodePort' || type === 'LoadBalancer' || Boolean(externalIPs?.length)
}

function wantsNodePorts(spec: ServiceSpec): boolean {
  return (
    spec.type === 'NodePort' || (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false)
  )
}

function services({ store }: StrategyContext): readonly Service[] {
  return store.list(storages.services, { prefix: '' }).items
}

function usedAddresses(context: StrategyContext): Set<string | undefined> {
  return new Set(services(context).map(service => service.spec?.clusterIP))
}

function usedPorts(context: StrategyContext): Set<number | undefined> {
  return new Set(services(context).flatMap(service => (service.spec?.ports ?? []).map(port => port.nodePort)))
}

function freeAddress(context: StrategyContext): string {
  const used = usedAddresses(context)
  for (;;) {
    const number = firstAddress + context.random.integer(lastAddress - firstAddress)
    const address = `${networkPrefix}.${number >> 8}.${number & 0xff}`
    if (!used.has(address)) return address
  }
}

function freeNodePort(used: ReadonlySet<number | undefined>, context: StrategyContext): number {
  for (;;) {
    const port = nodePortRange.first + context.random.integer(nodePortRange.last - nodePortRange.first + 1)
    if (!used.has(port)) return port
  }
}

/** A requested address or port must be in the range of the cluster and free. */
function validateAllocation(spec: ServiceSpec, old: ServiceSpec, context: StrategyContext): FieldError[] {
  const errors: FieldError[] = []
  const { clusterIP = '' } = spec
  if (spec.type !== 'ExternalName' && clusterIP !== 'None' && clusterIP !== old.clusterIP) {
    const inside = clusterIP.startsWith(`${networkPrefix}.`) && !clusterIP.endsWith('.0.0')
    const why = !inside
      ? `the provided IP (${clusterIP}) is not in the valid range. The range of valid IPs is ${networkPrefix}.0.0/16`
      : usedAddresses(context).has(clusterIP)
        ? 'provided IP is already allocated'
        : undefined
    if (why)
      errors.push(
        fieldError.invalid('spec.clusterIPs', spec.clusterIPs, `failed to allocate IP ${clusterIP}: ${why}`),
      )
  }
  if (errors.length > 0 || !wantsNodePorts(spec)) return errors
  const own = new Set((old.ports ?? []).map(({ nodePort }) => nodePort))
  const used = usedPorts(context)
  for (const [index, { nodePort }] of (spec.ports ?? []).entries()) {
    const why = nodePort === undefined || own.has(nodePort) ? undefined : nodePortProblem(nodePort, used)
    if (why) errors.push(fieldError.invalid(`spec.ports[${index}].nodePort`, nodePort, why))
  }
  return errors
}

function nodePortProblem(port: number, used: ReadonlySet<number | undefined>): string | undefined {
  const { first, last } = nodePortRange
  if (port < first || port > last)
    return `provided port is not in the valid range. The range of valid ports is ${first}-${last}`
  return used.has(port) ? 'provided port is already allocated' : undefined
}

function validateAddressUnchanged(object: Service, oldObject: Service): FieldError[] {
  const spec = object.spec ?? {}
  const old = oldObject.spec ?? {}
  if (old.type === 'ExternalName' || spec.type === 'ExternalName' || !old.clusterIP) return []
  const isMismatch = spec.clusterIPs?.[0] !== spec.clusterIP
  return isMismatch || spec.clusterIP === old.clusterIP
    ? []
    : [fieldError.invalid('spec.clusterIPs[0]', spec.clusterIPs ?? null, 'may not change once set')]
}
