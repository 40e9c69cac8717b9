// SPDX-License-Identifier: Apache-2.0
import { Model } from '../model/model.ts'
import { type Accepted, accept } from '../planner/accept.ts'
import { taskOf } from '../planner/gang-demand.ts'
import { obstacleOf } from '../planner/precheck.ts'
import { Budget } from '../solver/index.ts'
import type { Gang, Policy, Snapshot, SnapshotPod } from '../types.ts'

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
    pods: accepted.slice(0, copies * template.length).flatMap(({ placement }, position) =>
      placement.map(({ pod, node }) => ({
        ...pod,
        ...copyNames(pod, Math.floor(position / template.length) + 1),
        node: snapshot.nodes[node]!.name,
      })),
    ),
  })
  if (isBlocked) return count(0, true)
  for (let copy = 0; copy < most; copy++)
    for (const gang of template) {
      const task = taskOf(model, gang, accepted.length)
      const outcome = accept(model, accepted, task, { gang: policy.budget.gang, cycle })
      if (outcome.kind !== 'accepted') return count(copy, outcome.kind === 'rejected')
    }
  return count(most, true, true)
}

/** Names of hypothetical objects, which are invalid for Kubernetes objects. */
function copyNames({ name, gang }: SnapshotPod, copy: number): Pick<SnapshotPod, 'name' | 'gang' | 'uid'> {
  const mark = ` (copy ${copy})`
  return { name: `${name}${mark}`, uid: '', gang: gang === undefined ? undefined : `${gang}${mark}` }
}

export function isOfCopy(name: string): boolean {
  return name.endsWith(')') && name.includes(' (copy ')
}
