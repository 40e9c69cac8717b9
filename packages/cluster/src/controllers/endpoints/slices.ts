// SPDX-License-Identifier: Apache-2.0

import { createHash } from 'node:crypto'
import type { Stored } from '@grove/kube'
import type { DiscoveryEndpoint, DiscoveryEndpointPort } from '../../schema/types.generated.ts'
import type { EndpointSlice, Node, Pod, Service } from '../kinds.ts'
import { hasEnded, isReady } from '../pod-state.ts'

export const serviceNameLabel = 'kubernetes.io/service-name'
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by'
export const manager = 'endpointslice-controller.k8s.io'
const headlessLabel = 'service.kubernetes.io/headless'
const zoneLabel = 'topology.kubernetes.io/zone'
/** The maximum number of endpoints per slice. */
const sliceSize = 100

/** Returns the slices that a Service should have. Pure. */
export function wantedSlices(
  service: Stored<Service>,
  pods: readonly Stored<Pod>[],
  nodeOf: (name: string) => Node | undefined,
): EndpointSlice[] {
  const groups = new Map<string, { ports: DiscoveryEndpointPort[]; endpoints: DiscoveryEndpoint[] }>()
  for (const pod of pods) {
    if (!pod.status?.podIP || hasEnded(pod)) continue
    const ports = portsOf(service, pod)
    const key = JSON.stringify(ports)
    const group = groups.get(key) ?? { ports, endpoints: [] }
    groups.set(key, group)
    group.endpoints.push(endpointOf(service, pod, nodeOf(pod.spec?.nodeName ?? '')))
  }
  if (groups.size === 0) groups.set('', { ports: [], endpoints: [] })
  const slices: EndpointSlice[] = []
  for (const { ports, endpoints } of groups.values()) {
    endpoints.sort((a, b) => ((a.addresses?.[0] ?? '') < (b.addresses?.[0] ?? '') ? -1 : 1))
    for (let start = 0; start < Math.max(1, endpoints.length); start += sliceSize)
      slices.push(sliceOf(service, slices.length, ports, endpoints.slice(start, start + sliceSize)))
  }
  return slices
}

function sliceOf(
  service: Stored<Service>,
  index: number,
  ports: DiscoveryEndpointPort[],
  endpoints: DiscoveryEndpoint[],
): EndpointSlice {
  const { name, namespace, uid, labels } = service.metadata
  const suffix = createHash('sha256').update(`${uid}/${index}`).digest('hex').slice(0, 5)
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: `${name}-${suffix}`,
      namespace,
      labels: {
        ...labels,
        [serviceNameLabel]: name,
        [managedByLabel]: manager,
        ...(service.spec?.clusterIP === 'None' && { [headlessLabel]: '' }),
      },
      ownerReferences: [
        { apiVersion: 'v1', kind: 'Service', name, uid, controller: true, blockOwnerDeletion: true },
      ],
    },
    addressType: 'IPv4',
    endpoints,
    ports,
  }
}

function endpointOf(service: Stored<Service>, pod: Stored<Pod>, node: Node | undefined): DiscoveryEndpoint {
  const { name, namespace, uid, deletionTimestamp } = pod.metadata
  const serving = isReady(pod)
  const terminating = deletionTimestamp !== undefined
  const zone = node?.metadata?.labels?.[zoneLabel]
  const isNamed = pod.spec?.hostname && pod.spec.subdomain === service.metadata.name
  return {
    addresses: [pod.status?.podIP ?? ''],
    conditions: {
      ready: service.spec?.publishNotReadyAddresses === true || (serving && !terminating),
      serving,
      terminating,
    },
    ...(isNamed && { hostname: pod.spec?.hostname }),
    targetRef: { kind: 'Pod', namespace, name, uid },
    nodeName: pod.spec?.nodeName,
    ...(zone && { zone }),
  }
}

function portsOf(service: Stored<Service>, pod: Pod): DiscoveryEndpointPort[] {
  const found: DiscoveryEndpointPort[] = []
  for (const { name = '', port, targetPort = port, protocol = 'TCP', appProtocol } of service.spec?.ports ??
    []) {
    const number = typeof targetPort === 'number' ? targetPort : namedPort(pod, String(targetPort), protocol)
    if (number !== undefined)
      found.push({ name, port: number, protocol, ...(appProtocol && { appProtocol }) })
  }
  return found
}

function namedPort(pod: Pod, name: string, protocol: string): number | undefined {
  for (const { ports = [] } of pod.spec?.containers ?? [])
    for (const port of ports)
      if (port.name === name && (port.protocol ?? 'TCP') === protocol) return port.containerPort
  return undefined
}
