// SPDX-License-Identifier: Apache-2.0

import { formatAge } from '@grove/apimachinery'
import type { WithMetadata } from '../../object.ts'
import type { ConfigMap, Event, Namespace, Node, Secret, Service } from '../../schema/types.generated.ts'
import type { Column } from '../resource.ts'
import { ageColumn, column, formatLabels, nameColumn, noneIfEmpty, wide } from './column.ts'

export const namespaceColumns: readonly Column<Namespace>[] = [
  nameColumn,
  column('Status', object => object.status?.phase ?? '', 'The status of the namespace'),
  ageColumn,
]

const address = (object: Node, type: string) =>
  noneIfEmpty(object.status?.addresses?.find(entry => entry.type === type)?.address)
const system = (object: Node) => object.status?.nodeInfo ?? {}
const unknownIfEmpty = (text: string | undefined) => text || '<unknown>'

export const nodeColumns: readonly Column[] = [
  nameColumn,
  column('Status', nodeStatus, 'The status of the node'),
  column('Roles', nodeRoles, 'The roles of the node'),
  ageColumn,
  column('Version', object => system(object).kubeletVersion ?? ''),
  wide(column('Internal-IP', object => address(object, 'InternalIP'))),
  wide(column('External-IP', object => address(object, 'ExternalIP'))),
  wide(column('OS-Image', object => unknownIfEmpty(system(object).osImage))),
  wide(column('Kernel-Version', object => unknownIfEmpty(system(object).kernelVersion))),
  wide(column('Container-Runtime', object => unknownIfEmpty(system(object).containerRuntimeVersion))),
]

function nodeStatus({ spec, status }: Node): string {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  const parts = [ready ? (ready.status === 'True' ? 'Ready' : 'NotReady') : 'Unknown']
  if (spec?.unschedulable) parts.push('SchedulingDisabled')
  return parts.join(',')
}

const rolePrefix = 'node-role.kubernetes.io/'

function nodeRoles(object: WithMetadata): string {
  const roles = Object.entries(object.metadata.labels ?? {}).flatMap(([key, value]) => {
    if (key.startsWith(rolePrefix) && key.length > rolePrefix.length) return [key.slice(rolePrefix.length)]
    return key === 'kubernetes.io/role' && value ? [value] : []
  })
  return noneIfEmpty([...new Set(roles)].sort().join(','))
}

const spec = (object: Service) => object.spec ?? {}

export const serviceColumns: readonly Column[] = [
  nameColumn,
  column('Type', object => spec(object).type),
  column('Cluster-IP', object => noneIfEmpty(spec(object).clusterIPs?.[0])),
  column('External-IP', externalAddresses),
  column('Port(s)', servicePorts),
  ageColumn,
  wide(column('Selector', object => formatLabels(spec(object).selector))),
]

function externalAddresses(object: Service): string {
  const { type, externalIPs = [], externalName } = spec(object)
  if (type === 'ExternalName') return externalName ?? ''
  const ingress = object.status?.loadBalancer?.ingress ?? []
  const found = [...ingress.map(({ ip, hostname }) => ip || hostname || ''), ...externalIPs].join(',')
  if (type === 'LoadBalancer') return found || '<pending>'
  return noneIfEmpty(found)
}

function servicePorts(object: Service): string {
  const ports = (spec(object).ports ?? []).map(({ port, nodePort, protocol }) =>
    nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`,
  )
  return noneIfEmpty(ports.join(','))
}

const size = (value: object | undefined) => (value ? Object.keys(value).length : 0)

export const configMapColumns: readonly Column<ConfigMap>[] = [
  nameColumn,
  column('Data', object => size(object.data) + size(object.binaryData)),
  ageColumn,
]

export const secretColumns: readonly Column<Secret>[] = [
  nameColumn,
  column('Type', object => object.type ?? ''),
  column('Data', object => size(object.data)),
  ageColumn,
]

export const eventColumns: readonly Column<Event>[] = [
  column('Last Seen', (object, now) => formatAge(lastSeen(object), now)),
  column('Type', object => object.type ?? ''),
  column('Reason', object => object.reason ?? ''),
  column('Object', eventObject),
  wide(column('Subobject', object => object.involvedObject?.fieldPath ?? '')),
  wide(column('Source', eventSource)),
  column('Message', object => (object.message ?? '').trim()),
  wide(column('First Seen', (object, now) => formatAge(object.firstTimestamp ?? object.eventTime, now))),
  wide(column('Count', object => String(object.series?.count ?? object.count ?? 1))),
  wide(nameColumn),
]

function lastSeen(event: Event): string | null | undefined {
  return event.series?.lastObservedTime ?? event.lastTimestamp ?? event.eventTime
}

function eventObject({ involvedObject }: Event): string {
  const { kind = '', name = '' } = involvedObject ?? {}
  return name ? `${kind.toLowerCase()}/${name}` : kind.toLowerCase()
}

function eventSource({ source, reportingComponent, reportingInstance }: Event): string {
  const component = source?.component || reportingComponent || ''
  const host = source?.host || reportingInstance || ''
  return host ? `${component}, ${host}` : component
}
