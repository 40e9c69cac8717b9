// SPDX-License-Identifier: Apache-2.0

// Builders of objects of dynamic resource allocation for tests.
import type { DeviceRequest, Pod, ResourceClaim, ResourceClaimTemplate } from '@grove/api'
import type { DeviceClass, ResourceSlice, SliceDevice } from '../types.ts'

export const driver = 'gpu.example.com'

export function attribute(name: string): string {
  return `device.attributes["${driver}"].${name}`
}

/** A class of the devices of the driver, with further selectors. */
export function deviceClass(name: string, ...expressions: readonly string[]): DeviceClass {
  const all = [`device.driver == "${driver}"`, ...expressions]
  return { metadata: { name }, spec: { selectors: all.map(expression => ({ cel: { expression } })) } }
}

/** The devices of one node: a number of plain ones, or a list. */
export function resourceSlice(
  node: string,
  devices: number | readonly SliceDevice[],
  spec: Readonly<Record<string, unknown>> = {},
): ResourceSlice {
  const list =
    typeof devices === 'number'
      ? Array.from({ length: devices }, (_, index) => ({ name: `gpu-${index}` }))
      : devices
  const pool = { name: node, generation: 1, resourceSliceCount: 1 }
  return {
    metadata: { name: `slice-${node}` },
    spec: { driver, nodeName: node, pool, devices: list, ...spec },
  }
}

/** A device with attributes of strings and whole numbers. */
export function sliceDevice(
  name: string,
  attributes: Readonly<Record<string, string | number>> = {},
): SliceDevice {
  const entries = Object.entries(attributes).map(([key, value]) => [
    key,
    typeof value === 'string' ? { string: value } : { int: value },
  ])
  return { name, attributes: Object.fromEntries(entries) }
}

export function deviceRequest(
  className: string,
  count = 1,
  expressions: readonly string[] = [],
  name = 'gpu',
): DeviceRequest {
  return {
    name,
    exactly: {
      deviceClassName: className,
      allocationMode: 'ExactCount',
      count,
      ...(expressions.length > 0 && { selectors: expressions.map(expression => ({ cel: { expression } })) }),
    },
  }
}

export function resourceClaim(
  name: string,
  requests: DeviceRequest[],
  status: ResourceClaim['status'] = {},
): ResourceClaim {
  return {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: { name, namespace: 'default', uid: `uid-${name}` },
    spec: { devices: { requests } },
    status,
  }
}

export function claimTemplate(name: string, requests: DeviceRequest[]): ResourceClaimTemplate {
  return {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaimTemplate',
    metadata: { name, namespace: 'default' },
    spec: { spec: { devices: { requests } } },
  }
}

/** The status of a claim whose devices are allocated on a node, for the pods of these names. */
export function allocated(
  node: string,
  devices: readonly string[],
  pods: readonly string[] = [],
): NonNullable<ResourceClaim['status']> {
  return {
    allocation: {
      devices: { results: devices.map(device => ({ request: 'gpu', driver, pool: node, device })) },
      nodeSelector: {
        nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }],
      },
    },
    reservedFor: pods.map(name => ({ resource: 'pods', name, uid: `uid-${name}` })),
  }
}

/** The pod with claims by name. */
export function withClaims(pod: Pod, ...claims: readonly string[]): Pod {
  return {
    ...pod,
    spec: { ...pod.spec, resourceClaims: claims.map(name => ({ name, resourceClaimName: name })) },
  }
}
