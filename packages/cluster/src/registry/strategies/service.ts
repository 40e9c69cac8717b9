// SPDX-License-Identifier: Apache-2.0

import { dns1123Label, type FieldError, fieldError } from '@grove/apimachinery'
import type { KubeObject } from '../../object.ts'
import type { Service, ServiceSpec } from '../../schema/types.generated.ts'
import { refuse } from '../../server/status.ts'
import type { Strategy, StrategyContext } from '../resource.ts'

/** 10.96.0.0/16, as on most clusters; .0.0 is the network and .0.1 is the API server. */
const networkPrefix = '10.96'
const firstAddress = 10
const lastAddress = 0xfffe
const nodePortRange = { first: 30_000, last: 32_767 }

export const serviceStrategy: Partial<Strategy> = {
  createOnUpdate: true,
  returnsDeleted: true,
  nameRule: dns1123Label,
  prepareForCreate(draft, context) {
    allocate(draft as unknown as Service, undefined, context)
  },
  prepareForUpdate(draft, old, context) {
    allocate(draft as unknown as Service, (old as unknown as Service).spec, context)
  },
  validate: validateService,
  validateUpdate: (object, old) => [...validateService(object), ...validateAddressKept(object, old)],
}

/** Gives a service its addresses and ports; an update keeps what the service has when it leaves them out. */
function allocate(service: Service, old: ServiceSpec | undefined, context: StrategyContext): void {
  const { spec = {} } = service
  if (spec.type === 'ExternalName') {
    // What a service had before it became a name goes; what is set beside the name is a mistake.
    if (!old || old.type === 'ExternalName') return
    for (const field of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'] as const)
      delete spec[field]
    return
  }
  if (old && old.type !== 'ExternalName') {
    spec.clusterIP ||= old.clusterIP
    spec.clusterIPs ??= old.clusterIPs
    for (const [index, port] of (spec.ports ?? []).entries())
      if (wantsNodePorts(spec)) port.nodePort ||= old.ports?.[index]?.nodePort
  }
  if (!spec.clusterIP) spec.clusterIP = spec.clusterIPs?.[0] ?? freeAddress(context)
  spec.clusterIPs = spec.clusterIPs?.[0] === spec.clusterIP ? spec.clusterIPs : [spec.clusterIP]
  // Where the endpoints of a service are given by hand, they may be of any family.
  const isOpen = spec.clusterIP === 'None' && !Object.keys(spec.selector ?? {}).length
  spec.ipFamilies ??= old?.ipFamilies ?? (isOpen ? ['IPv4', 'IPv6'] : ['IPv4'])
  spec.ipFamilyPolicy ??= old?.ipFamilyPolicy ?? (isOpen ? 'RequireDualStack' : 'SingleStack')
  if (wantsNodePorts(spec)) allocateNodePorts(service, old, context)
  else for (const port of spec.ports ?? []) delete port.nodePort
}

/** Ports that are asked for must be free, or the service's own already; the others are chosen. */
function allocateNodePorts(
  { metadata, spec }: Service,
  old: ServiceSpec | undefined,
  context: StrategyContext,
): void {
  const own = new Set(old?.ports?.map(({ nodePort }) => nodePort))
  let used: Set<number | undefined> | undefined
  for (const [index, port] of (spec?.ports ?? []).entries()) {
    if (port.nodePort && own.has(port.nodePort)) continue
    used ??= usedNodePorts(context)
    port.nodePort ||= freeNodePort(used, context)
    const problem = nodePortProblem(port.nodePort, used)
    if (problem)
      throw refuse.invalid({ group: '', kind: 'Service' }, metadata?.name ?? '', [
        fieldError.invalid(`spec.ports[${index}].nodePort`, port.nodePort, problem),
      ])
    used.add(port.nodePort)
  }
}

function nodePortProblem(port: number, used: ReadonlySet<number | undefined>): string | undefined {
  const { first, last } = nodePortRange
  if (port < first || port > last)
    return `provided port is not in the valid range. The range of valid ports is ${first}-${last}`
  return used.has(port) ? 'provided port is already allocated' : undefined
}

function wantsNodePorts(spec: ServiceSpec): boolean {
  return (
    spec.type === 'NodePort' || (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false)
  )
}

function services({ store }: StrategyContext): Service[] {
  return store.list('services', { prefix: '' }).items as unknown as Service[]
}

function freeAddress(context: StrategyContext): string {
  const used = new Set(services(context).map(service => service.spec?.clusterIP))
  for (;;) {
    const number = firstAddress + context.random.integer(lastAddress - firstAddress)
    const address = `${networkPrefix}.${number >> 8}.${number & 0xff}`
    if (!used.has(address)) return address
  }
}

function usedNodePorts(context: StrategyContext): Set<number | undefined> {
  return new Set(services(context).flatMap(({ spec }) => (spec?.ports ?? []).map(port => port.nodePort)))
}

function freeNodePort(used: ReadonlySet<number | undefined>, context: StrategyContext): number {
  for (;;) {
    const port = nodePortRange.first + context.random.integer(nodePortRange.last - nodePortRange.first + 1)
    if (!used.has(port)) return port
  }
}

const serviceTypes = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']

function validateService(object: KubeObject): FieldError[] {
  const spec = (object as unknown as Service).spec ?? {}
  const errors: FieldError[] = []
  const ports = spec.ports ?? []
  if (ports.length === 0 && spec.type !== 'ExternalName' && spec.clusterIP !== 'None')
    errors.push(fieldError.required('spec.ports'))
  const names = new Set<string>()
  for (const [index, port] of ports.entries()) {
    const at = `spec.ports[${index}]`
    const name = port.name ?? ''
    if (name === '' && ports.length > 1) errors.push(fieldError.required(`${at}.name`))
    else if (name !== '')
      errors.push(...dns1123Label(name).map(problem => fieldError.invalid(`${at}.name`, name, problem)))
    if (names.has(name) && name !== '') errors.push(fieldError.duplicate(`${at}.name`, name))
    names.add(name)
    if (!port.port || port.port < 1 || port.port > 65535)
      errors.push(fieldError.invalid(`${at}.port`, port.port ?? 0, 'must be between 1 and 65535, inclusive'))
    errors.push(...validateTargetPort(port.targetPort, `${at}.targetPort`))
    if (!['TCP', 'UDP', 'SCTP'].includes(port.protocol ?? ''))
      errors.push(fieldError.unsupported(`${at}.protocol`, port.protocol, ['SCTP', 'TCP', 'UDP']))
  }
  if (!serviceTypes.includes(spec.type ?? ''))
    errors.push(fieldError.unsupported('spec.type', spec.type, serviceTypes))
  if (spec.type === 'ExternalName' && (spec.clusterIP || spec.clusterIPs?.length))
    errors.unshift(fieldError.forbidden('spec.clusterIPs', 'may not be set for ExternalName services'))
  if (spec.type === 'ExternalName' && !spec.externalName)
    errors.push(fieldError.required('spec.externalName'))
  return errors
}

/** Names of ports are checked where they are declared. */
function validateTargetPort(target: number | string | undefined, field: string): FieldError[] {
  return typeof target === 'number' && (target < 1 || target > 65535)
    ? [fieldError.invalid(field, target, 'must be between 1 and 65535, inclusive')]
    : []
}

function validateAddressKept(object: KubeObject, oldObject: KubeObject): FieldError[] {
  const spec = (object as unknown as Service).spec ?? {}
  const old = (oldObject as unknown as Service).spec ?? {}
  if (old.type === 'ExternalName' || spec.type === 'ExternalName' || !old.clusterIP) return []
  return spec.clusterIP === old.clusterIP
    ? []
    : [fieldError.invalid('spec.clusterIPs[0]', spec.clusterIPs ?? null, 'may not change once set')]
}
