// SPDX-License-Identifier: Apache-2.0
import { isDeviceResource } from '../devices/selections.ts'
import type { PodNeeds, SnapshotPod } from '../types.ts'
import type { Case, Cause } from './case.ts'
import { acceptingNodes, freeAmount, greedyCount } from './evidence.ts'

/** The gang fits if its resource claims did not restrict it: devices are in use, or allocated claims pin pods to nodes. */
export function devicesUnavailable(one: Case): Cause | undefined {
  const { task, cycle } = one
  const claiming = task.minimum
    .map((pods, group) => ({ pods: pods.filter(usesDevices), group }))
    .filter(({ pods }) => pods.length > 0)
  if (claiming.length === 0 || one.fits(one.snapshot, ['claim']) !== 'yes') return undefined
  // The clique that lacks most devices.
  const [worst] = claiming
    .map(({ pods, group }) => ({ pods, group, short: shortOf(one, pods) }))
    .sort((a, b) => b.short - a.short || a.group - b.group)
  const { pods, group, short } = worst!
  const nodes = acceptingNodes(cycle.model, pods).filter(node =>
    pods.some(pod => cycle.model.capacity(cycle.model.shapes.of(pod), node) > 0),
  )
  return {
    code: 'DevicesUnavailable',
    facts: {
      claim: `ResourceClaims of PodClique ${task.gang.groups[group]!.name}`,
      n: nodes.length,
      short,
      class: [...new Set(pods.flatMap(({ claims }) => claims.flatMap(({ classes }) => classes)))]
        .sort()
        .join(', '),
    },
  }
}

function usesDevices({ needs }: SnapshotPod): boolean {
  return (
    needs.claimSelectors.length + needs.sharedClaims.length > 0 ||
    Object.keys(needs.requests).some(isDeviceResource)
  )
}

/** Devices that are not free, or those of the pods that find none on one node although enough are free. */
function shortOf({ cycle: { model } }: Case, pods: readonly SnapshotPod[]): number {
  const nodes = acceptingNodes(model, pods)
  const total = new Map<string, number>()
  const add = (devices: Iterable<readonly [string, number]>) => {
    for (const [name, amount] of devices) total.set(name, (total.get(name) ?? 0) + amount)
  }
  const shared = new Map(pods.flatMap(({ needs }) => needs.sharedClaims.map(one => [one.name, one] as const)))
  for (const { needs } of pods) add(devicesOf(needs))
  for (const { devices } of shared.values()) add(Object.entries(devices))
  const missing = [...total].map(([name, amount]) => amount - freeAmount(model, nodes, name))
  const left = pods.slice(greedyCount(model, pods, nodes))
  const perPod = left.map(({ needs }) =>
    Math.max(
      0,
      ...devicesOf(needs).map(([, amount]) => amount),
      ...needs.sharedClaims.flatMap(({ devices }) => Object.values(devices)),
    ),
  )
  const scattered = shared.size > 0 ? Math.max(0, ...perPod) : perPod.reduce((sum, amount) => sum + amount, 0)
  return Math.max(0, scattered, ...missing)
}

function devicesOf({ requests }: PodNeeds): [string, number][] {
  return Object.entries(requests).filter(([name]) => isDeviceResource(name))
}
