// SPDX-License-Identifier: Apache-2.0

import { nodeTermTest } from '../../scheduling/selector.ts'
import type {
  NodeSelector,
  ResourceDeviceRequest,
  ResourceDeviceRequestAllocationResult,
} from '../../schema/types.generated.ts'
import type { DeviceClass, ResourceClaim, ResourceSlice } from '../kinds.ts'

/** The maximum number of pods that share one claim. */
export const maximumConsumers = 256

export interface NodeIdentity {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
}

interface Device {
  readonly driver: string
  readonly pool: string
  readonly name: string
}

/**
 * Chooses devices for a request on a node. Classes and requests select devices by driver. Other CEL
 * selectors, constraints between devices and shared capacity are not supported.
 */
export function chooseDevices(
  claim: ResourceClaim,
  node: NodeIdentity,
  slices: Iterable<ResourceSlice>,
  classOf: (name: string) => DeviceClass | undefined,
  isTaken: (device: string) => boolean,
): ResourceDeviceRequestAllocationResult[] | undefined {
  const devices = [...devicesOn(node, slices)]
  const chosen: ResourceDeviceRequestAllocationResult[] = []
  const taken = new Set<string>()
  const isFree = (device: Device) => !taken.has(deviceKey(device)) && !isTaken(deviceKey(device))
  for (const request of claim.spec?.devices?.requests ?? []) {
    const found = satisfy(request, devices, classOf, isFree)
    if (!found) return undefined
    for (const result of found) {
      taken.add(resultKey(result))
      chosen.push(result)
    }
  }
  return chosen
}

function satisfy(
  request: ResourceDeviceRequest,
  devices: readonly Device[],
  classOf: (name: string) => DeviceClass | undefined,
  isFree: (device: Device) => boolean,
): ResourceDeviceRequestAllocationResult[] | undefined {
  const alternatives = request.exactly
    ? [{ label: request.name ?? '', ...request.exactly }]
    : (request.firstAvailable ?? []).map(each => ({ ...each, label: `${request.name}/${each.name}` }))
  for (const { label, deviceClassName = '', allocationMode, count = 1, selectors = [] } of alternatives) {
    const deviceClass = classOf(deviceClassName)
    if (!deviceClass) continue
    const expressions = [...(deviceClass.spec?.selectors ?? []), ...selectors].map(
      ({ cel }) => cel?.expression ?? '',
    )
    const matching = devices.filter(device => expressions.every(expression => mayMatch(expression, device)))
    const free = matching.filter(isFree)
    const wanted = allocationMode === 'All' ? matching.length : count
    if (wanted === 0 || free.length < wanted) continue
    return free
      .slice(0, wanted)
      .map(({ driver, pool, name }) => ({ request: label, driver, pool, device: name }))
  }
  return undefined
}

const driverRule = /device\.driver\s*==\s*["']([^"']+)["']/g

function mayMatch(expression: string, { driver }: Device): boolean {
  return [...expression.matchAll(driverRule)].every(([, wanted]) => wanted === driver)
}

function* devicesOn(node: NodeIdentity, slices: Iterable<ResourceSlice>): Iterable<Device> {
  for (const { spec } of slices) {
    if (!(spec?.allNodes || spec?.nodeName === node.name || selects(spec?.nodeSelector, node))) continue
    for (const { name = '' } of spec?.devices ?? [])
      yield { driver: spec?.driver ?? '', pool: spec?.pool?.name ?? '', name }
  }
}

/** The node selector of an allocation: the node of its devices, or all nodes that can access them. */
export function selectorFor(
  results: readonly ResourceDeviceRequestAllocationResult[],
  node: NodeIdentity,
  slices: Iterable<ResourceSlice>,
): NodeSelector | undefined {
  const pools = new Set(results.map(({ driver, pool }) => `${driver}/${pool}`))
  for (const { spec } of slices)
    if (spec?.nodeName && pools.has(`${spec.driver}/${spec.pool?.name}`))
      return {
        nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node.name] }] }],
      }
  return undefined
}

export function selects(selector: NodeSelector | undefined, node: NodeIdentity): boolean {
  return selector?.nodeSelectorTerms?.some(term => nodeTermTest(term)(node)) ?? false
}

function deviceKey({ driver, pool, name }: Device): string {
  return `${driver}/${pool}/${name}`
}

export function resultKey({ driver, pool, device }: ResourceDeviceRequestAllocationResult): string {
  return `${driver}/${pool}/${device}`
}
