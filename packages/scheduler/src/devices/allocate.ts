// SPDX-License-Identifier: Apache-2.0
import type { AllocatedDevice, ClaimAllocation, FreeDevice, SnapshotPod } from '../types.ts'

/** Chooses devices of one node for the claims of its new pods, in order. The model has proved that there are enough. */
export function allocateDevices(
  node: string,
  pods: readonly SnapshotPod[],
  free: readonly FreeDevice[],
): Map<SnapshotPod, readonly ClaimAllocation[]> {
  /** By claim, because pods share claims. */
  const chosen = new Map<string, AllocatedDevice[]>()
  const units: { readonly claim: string; readonly request: string; readonly selection: number }[] = []
  for (const { namespace, claims } of pods)
    for (const { name, requests, isAllocated } of claims) {
      const claim = `${namespace}/${name}`
      if (isAllocated || chosen.has(claim)) continue
      chosen.set(claim, [])
      for (const request of requests)
        for (let i = 0; i < request.count; i++)
          units.push({ claim, request: request.name, selection: request.selection })
    }
  const owners = matchUnits(units, free)
  free.forEach(({ driver, pool, name }, at) => {
    const unit = units[owners[at]!]
    if (unit) chosen.get(unit.claim)!.push({ request: unit.request, driver, pool, device: name })
  })
  if (owners.filter(owner => owner >= 0).length < units.length)
    throw new Error(`node ${node} has no devices for claims that were planned on it`)
  return new Map(
    pods.map(pod => [
      pod,
      pod.claims.map(({ name, uid, isAllocated }) => {
        const devices = chosen.get(`${pod.namespace}/${name}`)
        return { name, uid, ...(!isAllocated && devices && { devices: inOrder(devices, pod, name) }) }
      }),
    ]),
  )
}

/** Devices in the order of the requests of the claim. */
function inOrder(
  devices: readonly AllocatedDevice[],
  { claims }: SnapshotPod,
  name: string,
): AllocatedDevice[] {
  const requests = claims.find(claim => claim.name === name)!.requests.map(request => request.name)
  return devices.toSorted((left, right) => requests.indexOf(left.request) - requests.indexOf(right.request))
}

/** A maximum matching by augmenting paths. Returns the unit of each device, or -1. */
function matchUnits(units: readonly { readonly selection: number }[], free: readonly FreeDevice[]): number[] {
  const owners = free.map(() => -1)
  const assign = (unit: number, seen: Set<number>): boolean => {
    for (const [at, { selections }] of free.entries()) {
      if (seen.has(at) || !selections.includes(units[unit]!.selection)) continue
      seen.add(at)
      if (owners[at]! < 0 || assign(owners[at]!, seen)) {
        owners[at] = unit
        return true
      }
    }
    return false
  }
  units.forEach((_, unit) => {
    assign(unit, new Set())
  })
  return owners
}
