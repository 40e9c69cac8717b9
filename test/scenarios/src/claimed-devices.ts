// SPDX-License-Identifier: Apache-2.0

// Devices and resource claims on an API server without controllers.
import type { Pod, ResourceClaim } from '@grove/api'
import { type Client, isNotFound, type Stored } from '@grove/kube'
import { schedulerResources } from '@grove/scheduler'

const { deviceClasses, resourceSlices, resourceClaims } = schedulerResources
const driver = 'gpu.example.com'

export class ClaimedDevices {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /** Two devices on every node, so that a claim has a choice. */
  async prepare(nodeNames: readonly string[]): Promise<void> {
    const apiVersion = 'resource.k8s.io/v1'
    const selectors = [{ cel: { expression: `device.driver == "${driver}"` } }]
    await this.#client.create(deviceClasses, {
      apiVersion,
      kind: 'DeviceClass',
      metadata: { name: 'gpu' },
      spec: { selectors },
    })
    for (const nodeName of nodeNames) {
      const pool = { name: nodeName, generation: 1, resourceSliceCount: 1 }
      const devices = [{ name: 'gpu-0' }, { name: 'gpu-1' }]
      await this.#client.create(resourceSlices, {
        apiVersion,
        kind: 'ResourceSlice',
        metadata: { name: nodeName },
        spec: { driver, nodeName, pool, devices },
      })
    }
  }

  async createClaim(name: string): Promise<void> {
    await this.#client.create(resourceClaims, {
      apiVersion: 'resource.k8s.io/v1',
      kind: 'ResourceClaim',
      metadata: { name, namespace: 'default' },
      spec: { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu' } }] } },
    })
  }

  async #claims(): Promise<Stored<ResourceClaim>[]> {
    return (await this.#client.list(resourceClaims, { namespace: 'default' })).items
  }

  /** Deletes the claims of pods that are gone, as the controller of claims does. */
  async release(pods: readonly Pod[]): Promise<void> {
    const names = new Set(pods.filter(({ status }) => status?.phase !== 'Failed').map(nameOf))
    for (const { metadata } of (await this.#claims()).filter(claim => !names.has(nameOf(claim))))
      try {
        await this.#client.patch(resourceClaims, metadata, { merge: { metadata: { finalizers: null } } })
        await this.#client.delete(resourceClaims, metadata)
      } catch (error) {
        if (!isNotFound(error)) throw error
      }
  }

  /** A device belongs to one claim, and the claim of a bound pod is allocated on its node and reserved for it. */
  async violations(bound: readonly Stored<Pod>[]): Promise<string[]> {
    const found: string[] = []
    const claims = await this.#claims()
    const holders = new Map<string, string>()
    for (const claim of claims)
      for (const { pool, device } of claim.status?.allocation?.devices?.results ?? []) {
        const other = holders.get(`${pool}/${device}`)
        if (other) found.push(`${other} and ${nameOf(claim)} hold ${pool}/${device}`)
        holders.set(`${pool}/${device}`, nameOf(claim))
      }
    for (const pod of bound) {
      if (!pod.spec.resourceClaims?.length) continue
      const status = claims.find(claim => nameOf(claim) === nameOf(pod))?.status
      const nodes = status?.allocation?.devices?.results?.map(({ pool }) => pool) ?? []
      if (nodes.join() !== pod.spec.nodeName)
        found.push(
          `${nameOf(pod)} runs on ${pod.spec.nodeName}, its devices are on ${nodes.join() || 'no node'}`,
        )
      if (!status?.reservedFor?.some(({ uid }) => uid === pod.metadata.uid))
        found.push(`the claim of ${nameOf(pod)} is not reserved for it`)
    }
    return found
  }
}

function nameOf({ metadata }: Pick<Pod, 'metadata'> | Pick<ResourceClaim, 'metadata'>): string {
  return metadata.name
}
