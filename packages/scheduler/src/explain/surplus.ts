// SPDX-License-Identifier: Apache-2.0
import { planWith } from '../planner/plan.ts'
import { compareByName } from '../snapshot/pods.ts'
import type {
  Decision,
  Explanation,
  Gang,
  GangDecision,
  Group,
  PackConstraint,
  Policy,
  Snapshot,
  SnapshotPod,
} from '../types.ts'
import { FixAllowance } from './fixes/allowance.ts'
import { explain } from './index.ts'

/** Surplus pods of one group of a scheduled gang that find no node. */
export interface WaitingSurplus {
  readonly namespace: string
  readonly gang: string
  readonly podGroup: string
  /** Names. */
  readonly pods: readonly string[]
  readonly explanation: Explanation
}

/** At most this many groups are explained in one cycle: each needs a few counterfactuals. */
const mostGroups = 100

/** The step limit of one group. One pod needs few steps, unless rules between pods make the search long. */
const mostSteps = 200_000

/**
 * Explains why surplus pods wait: each group that has some left becomes a gang that needs one pod more than it has after this
 * decision. Groups beyond the limit, and pods that another cycle will place, have no explanation.
 */
export function waitingSurplus(
  snapshot: Snapshot,
  decision: Pick<Decision, 'gangs' | 'bindings'>,
  policy: Policy,
  now: number,
): WaitingSurplus[] {
  const open = openGroups(snapshot, decision).slice(0, mostGroups)
  if (open.length === 0) return []
  const alone: Policy = {
    ...policy,
    preemption: 'Disabled',
    reservation: undefined,
    fixes: false,
    budget: { gang: Math.min(policy.budget.gang, mostSteps), cycle: policy.budget.cycle },
  }
  const { gangs } = planWith(
    (cycle, index) => explain(cycle, index, alone, now, new FixAllowance(), () => false),
    {
      ...snapshot,
      boundPods: boundAfter(snapshot, decision),
      gangs: open.map(({ gang, group }) => withOneMore(gang, group)),
      strayPods: [],
    },
    alone,
    now,
  )
  return open.flatMap(({ gang, group, waiting }, at): WaitingSurplus[] => {
    const { explanation } = gangs[at]!
    if (!explanation) return []
    const { namespace, name } = gang
    const pods = waiting.map(pod => pod.name)
    return [{ namespace, gang: name, podGroup: gang.groups[group]!.name, pods, explanation }]
  })
}

interface OpenGroup {
  /** With the pods that this decision binds as placed ones. */
  readonly gang: Gang
  readonly group: number
  readonly waiting: readonly SnapshotPod[]
}

function openGroups(
  { gangs }: Snapshot,
  { gangs: decisions, bindings }: Pick<Decision, 'gangs' | 'bindings'>,
): OpenGroup[] {
  const nodeOf = nodesOf(bindings)
  return decisions.flatMap((decided, at) => {
    if (!hasWaitingSurplus(decided)) return []
    const gang = { ...gangs[at]!, groups: gangs[at]!.groups.map(group => afterBindings(group, nodeOf)) }
    return gang.groups.flatMap(({ candidates }, group) =>
      candidates.length > 0 ? [{ gang, group, waiting: candidates }] : [],
    )
  })
}

function hasWaitingSurplus({ verdict, pods }: GangDecision): boolean {
  return verdict === 'Scheduled' && pods.some(({ node }) => node === null)
}

function nodesOf(bindings: Decision['bindings']): ReadonlyMap<string, string> {
  return new Map(bindings.map(({ namespace, pod, node }) => [`${namespace}/${pod}`, node]))
}

const boundOn = (pod: SnapshotPod, nodeOf: ReadonlyMap<string, string>): SnapshotPod | undefined => {
  const node = nodeOf.get(`${pod.namespace}/${pod.name}`)
  return node === undefined ? undefined : { ...pod, node }
}

function afterBindings(group: Group, nodeOf: ReadonlyMap<string, string>): Group {
  if (nodeOf.size === 0) return group
  const bound = group.candidates.flatMap(pod => boundOn(pod, nodeOf) ?? [])
  const candidates = group.candidates.filter(pod => !boundOn(pod, nodeOf))
  return { ...group, placed: [...group.placed, ...bound], candidates }
}

function boundAfter(
  { boundPods, gangs }: Snapshot,
  { bindings }: Pick<Decision, 'bindings'>,
): readonly SnapshotPod[] {
  // Sums over the same list are known already.
  if (bindings.length === 0) return boundPods
  const nodeOf = nodesOf(bindings)
  const added = gangs.flatMap(({ groups }) =>
    groups.flatMap(({ candidates }) => candidates.flatMap(pod => boundOn(pod, nodeOf) ?? [])),
  )
  return [...boundPods, ...added].sort(compareByName)
}

/** The gang as one that waits for a single pod of the group. Equal ones are searched once if no level pins them. */
function withOneMore(gang: Gang, group: number): Gang {
  const hasLevel = [gang, ...gang.configs, ...gang.groups].some(({ constraint }) => constraint.required)
  return {
    ...gang,
    baseGang: undefined,
    initialized: true,
    isBalanced: false,
    formerNodes: [],
    reuseReservation: undefined,
    constraint: requiredOf(gang),
    configs: gang.configs.map(config => ({ ...config, constraint: requiredOf(config) })),
    groups: gang.groups.map((one, at): Group => {
      const placed = hasLevel ? one.placed : []
      const isOpen = at === group
      return {
        ...one,
        constraint: requiredOf(one),
        placed,
        minReplicas: placed.length + (isOpen ? 1 : 0),
        candidates: isOpen ? one.candidates.slice(0, 1) : [],
        gated: [],
      }
    }),
  }
}

function requiredOf({ constraint: { required } }: { readonly constraint: PackConstraint }): PackConstraint {
  return required ? { required } : {}
}
