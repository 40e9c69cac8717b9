// SPDX-License-Identifier: Apache-2.0
import { Model } from '../model/model.ts'
import { type Accepted, accept } from '../planner/accept.ts'
import { taskOf } from '../planner/gang-demand.ts'
import { obstacleOf } from '../planner/precheck.ts'
import { Budget } from '../solver/index.ts'
import type { Gang, PodNeeds, Policy, Snapshot, SnapshotPod } from '../types.ts'

export interface Copies {
  readonly copies: number
  /** No placement holds another copy. False also if the limit ended the count. */
  readonly isProved: boolean
  readonly isLimited: boolean
  /** The pods of all whole copies, on their nodes. */
  readonly pods: readonly SnapshotPod[]
}

/**
 * Counts how many whole copies of the gangs fit together on the nodes of the snapshot. Gangs of earlier copies may get
 * other nodes for later ones, so the count does not depend on earlier choices.
 */
export function countCopies(
  snapshot: Snapshot,
  template: readonly Gang[],
  policy: Policy,
  most: number,
): Copies {
  const model = new Model({ ...snapshot, gangs: template })
  const cycle = new Budget(policy.budget.cycle)
  const accepted: Accepted[] = []
  const isBlocked = template.some(gang => obstacleOf(gang, () => true) !== undefined)
  const count = (copies: number, isProved: boolean, isLimited = false): Copies => ({
    copies,
    isProved,
    isLimited,
    pods: withDevices(
      accepted.slice(0, copies * template.length).flatMap(({ placement }, position) =>
        placement.map(({ pod, node }) => ({
          ...pod,
          ...copyNames(pod, Math.floor(position / template.length) + 1),
          node: snapshot.nodes[node]!.name,
        })),
      ),
    ),
  })
  if (isBlocked) return count(0, true)
  for (let copy = 0; copy < most; copy++)
    for (const gang of template) {
      const task = taskOf(model, withOwnClaims(gang, copy + 1), accepted.length)
      const outcome = accept(model, accepted, task, { gang: policy.budget.gang, cycle })
      if (outcome.kind !== 'accepted') return count(copy, outcome.kind === 'rejected')
    }
  return count(most, true, true)
}

/** Every copy of a gang has shared claims of its own. */
function withOwnClaims(gang: Gang, copy: number): Gang {
  const change = (pod: SnapshotPod): SnapshotPod =>
    pod.needs.sharedClaims.length === 0 ? pod : { ...pod, needs: needsOfCopy(pod.needs, copy) }
  const hasShared = gang.groups.some(({ candidates }) => candidates.some(pod => change(pod) !== pod))
  if (!hasShared) return gang
  return {
    ...gang,
    groups: gang.groups.map(group => ({ ...group, candidates: group.candidates.map(change) })),
  }
}

function needsOfCopy(needs: PodNeeds, copy: number): PodNeeds {
  const sharedClaims = needs.sharedClaims.map(claim => ({ ...claim, name: `${claim.name} (copy ${copy})` }))
  return { ...needs, sharedClaims }
}

/** Bound pods hold devices as requests: those of a shared claim belong to one of its pods. */
function withDevices(pods: readonly SnapshotPod[]): SnapshotPod[] {
  const counted = new Set<string>()
  return pods.map(pod => {
    const requests: Record<string, number> = { ...pod.needs.requests }
    for (const { name, devices } of pod.needs.sharedClaims) {
      if (counted.has(name)) continue
      counted.add(name)
      for (const [resource, amount] of Object.entries(devices))
        requests[resource] = (requests[resource] ?? 0) + amount
    }
    return pod.needs.sharedClaims.length === 0
      ? pod
      : { ...pod, needs: { ...pod.needs, requests, sharedClaims: [] } }
  })
}

/** Names of hypothetical objects, which are invalid for Kubernetes objects. */
function copyNames({ name, gang }: SnapshotPod, copy: number): Pick<SnapshotPod, 'name' | 'gang' | 'uid'> {
  const mark = ` (copy ${copy})`
  return { name: `${name}${mark}`, uid: '', gang: gang === undefined ? undefined : `${gang}${mark}` }
}

export function isOfCopy(name: string): boolean {
  return name.endsWith(')') && name.includes(' (copy ')
}
