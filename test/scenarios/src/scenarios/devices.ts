// SPDX-License-Identifier: Apache-2.0

// Devices that are available on every node, and claim templates for them.
import type { ResourceClaimTemplate } from '@grove/api'
import { defineResource, type KubeObject } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Harness } from '../harness.ts'

type Manifest = KubeObject & { spec?: unknown }

const ofCluster = (group: string, resource: string, kind: string) =>
  defineResource<Manifest>({ group, version: 'v1', resource, kind, namespaced: false })

const deviceClasses = ofCluster('resource.k8s.io', 'deviceclasses', 'DeviceClass')
const resourceSlices = ofCluster('resource.k8s.io', 'resourceslices', 'ResourceSlice')
const namespaces = ofCluster('', 'namespaces', 'Namespace')

/** Creates devices for this harness alone, and returns the device class that selects them. */
export async function provideDevices(
  harness: Pick<Harness, 'client' | 'namespace'>,
  count: number,
): Promise<string> {
  const driver = `${harness.namespace}.example.com`
  await harness.client.create(deviceClasses, {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'DeviceClass',
    metadata: { name: driver },
    spec: { selectors: [{ cel: { expression: `device.driver == "${driver}"` } }] },
  })
  await harness.client.create(resourceSlices, {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceSlice',
    metadata: { name: driver },
    spec: {
      driver,
      allNodes: true,
      pool: { name: 'pool', generation: 1, resourceSliceCount: 1 },
      devices: Array.from({ length: count }, (_, index) => ({ name: `device-${index}` })),
    },
  })
  return driver
}

/** The spec of a claim for one device of the class. */
export function oneDevice(deviceClassName: string) {
  return { devices: { requests: [{ name: 'device', exactly: { deviceClassName } }] } }
}

export async function provideTemplate(
  harness: Harness,
  name: string,
  deviceClass: string,
  namespace = harness.namespace,
): Promise<void> {
  await harness.client.create(resources.resourceClaimTemplates, {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaimTemplate',
    metadata: { name, namespace },
    spec: { spec: oneDevice(deviceClass) },
  } as ResourceClaimTemplate)
}

export async function provideNamespace(harness: Harness, name: string): Promise<void> {
  await harness.client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
}
