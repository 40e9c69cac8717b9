// SPDX-License-Identifier: Apache-2.0

// A brute-force planner for small clusters. It tries all assignments, shares no search code with the planner, and
// evaluates the rules of the snapshot as literally as possible.
import type { Gang, Group, PackConstraint, Snapshot, SnapshotNode, SnapshotPod } from '../types.ts'

/** Pods of a gang on nodes, by name of the node. */
export type Assigned = readonly { readonly pod: SnapshotPod; readonly node: string }[]

interface Slot {
  readonly gang: Gang
  readonly group: Group
  readonly pod: SnapshotPod
}

/** Domain of a node at a key; undefined if the node is outside every domain. */
function domainAt(gang: Gang, key: string, node: SnapshotNode): string | undefined {
  const position = gang.levels.findIndex(level => level.key === key)
  const keys = position < 0 ? [key] : gang.levels.slice(0, position + 1).map(level => level.key)
  const values = keys.map(name => node.labels[name])
  return values.some(value => value === undefined) ? undefined : JSON.stringify(values)
}

interface OracleScope {
  readonly constraint: PackConstraint
  readonly groups: readonly string[]
  readonly around: readonly PackConstraint[]
}

function scopesOfGang(gang: Gang): OracleScope[] {
  const scopes: OracleScope[] = [
    { constraint: gang.constraint, groups: gang.groups.map(({ name }) => name), around: [] },
  ]
  for (const config of gang.configs)
    scopes.push({ constraint: config.constraint, groups: config.groups, around: [gang.constraint] })
  for (const group of gang.groups) {
    const config = gang.configs.find(({ groups }) => groups.includes(group.name))
    scopes.push({
      constraint: group.constraint,
      groups: [group.name],
      around: config ? [gang.constraint, config.constraint] : [gang.constraint],
    })
  }
  return scopes
}

/** Static rules for one pod on one node, without resources. */
export function mayRun(snapshot: Snapshot, pod: SnapshotPod, node: SnapshotNode): boolean {
  const { needs } = pod
  const tolerated = (key: string, value: string, effect: string) =>
    needs.tolerations.some(
      toleration =>
        (!toleration.effect || toleration.effect === effect) &&
        (toleration.operator === 'Exists'
          ? !toleration.key || toleration.key === key
          : toleration.key === key && (toleration.value ?? '') === value),
    )
  if (node.unschedulable && !tolerated('node.kubernetes.io/unschedulable', '', 'NoSchedule')) return false
  for (const { key, value = '', effect } of node.taints)
    if (effect !== 'PreferNoSchedule' && !tolerated(key, value, effect)) return false
  for (const [key, value] of Object.entries(needs.nodeSelector)) if (node.labels[key] !== value) return false
  const onNode = snapshot.boundPods.filter(other => other.node === node.name)
  if (onNode.some(other => samePort(other, pod) || repels(other, pod) || repels(pod, other))) return false
  return true
}

function samePort(left: SnapshotPod, right: SnapshotPod): boolean {
  return left.needs.hostPorts.some(one =>
    right.needs.hostPorts.some(other => one.port === other.port && one.protocol === other.protocol),
  )
}

/** Anti-affinity by hostname with matchLabels, the only form that the generator makes. */
function repels(owner: SnapshotPod, other: SnapshotPod): boolean {
  return owner.needs.podAntiAffinity.some(({ labelSelector }) =>
    Object.entries(labelSelector?.matchLabels ?? {}).every(([key, value]) => other.labels[key] === value),
  )
}

/** Calls `visit` with every assignment of the minima of all gangs that breaks no rule. Stops when it returns true. */
export function enumerate(
  snapshot: Snapshot,
  gangs: readonly Gang[],
  visit: (assigned: Assigned) => boolean,
  fixed: Assigned = [],
): boolean {
  const slots = gangs.flatMap(gang =>
    gang.groups.flatMap(group =>
      group.candidates
        .slice(0, Math.max(0, group.minReplicas - group.placed.length))
        .map((pod): Slot => ({ gang, group, pod })),
    ),
  )
  const free = new Map(
    snapshot.nodes.map(node => [node.name, { ...node.allocatable } as Record<string, number>]),
  )
  const take = (node: string, pod: SnapshotPod, sign: number) => {
    const amounts = free.get(node)
    if (amounts)
      for (const [name, amount] of Object.entries(pod.needs.requests))
        amounts[name] = (amounts[name] ?? 0) - sign * amount
  }
  for (const pod of snapshot.boundPods) take(pod.node!, pod, 1)
  for (const { pod, node } of fixed) take(node, pod, 1)
  const assigned: { pod: SnapshotPod; node: string }[] = [...fixed]
  const legal = slots.map(({ pod }) => snapshot.nodes.map(node => mayRun(snapshot, pod, node)))
  const groupEnds = slots.map((slot, i) => slots[i + 1]?.group !== slot.group)

  const search = (at: number, from: number): boolean => {
    if (at === slots.length)
      return gangs.every(gang => keepsScopes(snapshot, gang, assigned)) && visit(assigned)
    const { pod, gang } = slots[at]!
    for (let index = from; index < snapshot.nodes.length; index++) {
      if (!legal[at]![index]) continue
      const node = snapshot.nodes[index]!
      const amounts = free.get(node.name)!
      if (!Object.entries(pod.needs.requests).every(([name, amount]) => (amounts[name] ?? 0) >= amount))
        continue
      if (assigned.some(other => other.node === node.name && clash(other.pod, pod))) continue
      take(node.name, pod, 1)
      assigned.push({ pod, node: node.name })
      const isDone =
        (!groupEnds[at] || keepsScopes(snapshot, gang, assigned)) && search(at + 1, groupEnds[at] ? 0 : index)
      assigned.pop()
      take(node.name, pod, -1)
      if (isDone) return true
    }
    return false
  }
  return search(0, 0)
}

function clash(left: SnapshotPod, right: SnapshotPod): boolean {
  return samePort(left, right) || repels(left, right) || repels(right, left)
}

/** Required rules of a gang for the pods that are assigned so far. */
export function keepsScopes(snapshot: Snapshot, gang: Gang, assigned: Assigned): boolean {
  const nodeOf = (name: string) => snapshot.nodes.find(node => node.name === name)
  return scopesOfGang(gang).every(({ constraint: { required }, groups }) => {
    if (!required) return true
    const members = gang.groups.filter(({ name }) => groups.includes(name))
    const running = members
      .flatMap(({ placed }) => placed.map(({ node }) => nodeOf(node!)))
      .filter(node => node)
    const added = assigned
      .filter(
        ({ pod }) =>
          pod.namespace === gang.namespace && pod.gang === gang.name && groups.includes(pod.podClique!),
      )
      .map(({ node }) => domainAt(gang, required, nodeOf(node)!))
    if (added.includes(undefined)) return false
    const pinned = new Set(running.map(node => domainAt(gang, required, node!)))
    pinned.delete(undefined)
    if (pinned.size > 0) return added.every(domain => pinned.has(domain))
    return new Set(added).size <= 1
  })
}

export function fitsTogether(snapshot: Snapshot, gangs: readonly Gang[], fixed: Assigned = []): boolean {
  return enumerate(snapshot, gangs, () => true, fixed)
}

/** The highest score of the first gang among all assignments in which all gangs fit. */
export function bestScore(snapshot: Snapshot, gangs: readonly Gang[], fixed: Assigned = []): number {
  let best = 0
  enumerate(
    snapshot,
    gangs,
    assigned => {
      best = Math.max(best, oracleScore(snapshot, gangs[0]!, assigned))
      return best >= 1
    },
    fixed,
  )
  return best
}

/** placementScore by its definition: for each scope the smallest widening, then the number of preferred domains. */
export function oracleScore(snapshot: Snapshot, gang: Gang, assigned: Assigned): number {
  const nodeOf = (name: string) => snapshot.nodes.find(node => node.name === name)
  const levelOf = (key: string | undefined) => gang.levels.findIndex(level => level.key === key)
  let weighted = 0
  let total = 0
  for (const { constraint, groups, around } of scopesOfGang(gang)) {
    const { preferred } = constraint
    if (!preferred || preferred === constraint.required) continue
    const p = levelOf(preferred)
    const r = Math.max(-1, ...[constraint, ...around].map(({ required }) => levelOf(required)))
    if (p >= 0 && p <= r) continue
    const members = gang.groups.filter(({ name }) => groups.includes(name))
    const nodes = [
      ...members.flatMap(({ placed }) => placed.map(({ node }) => nodeOf(node!))),
      ...assigned
        .filter(
          ({ pod }) =>
            pod.namespace === gang.namespace && pod.gang === gang.name && groups.includes(pod.podClique!),
        )
        .map(({ node }) => nodeOf(node)),
    ].filter(node => node !== undefined)
    if (nodes.length === 0) continue
    const keys = p < 0 ? [preferred] : gang.levels.slice(r + 1, p + 1).map(({ key }) => key)
    const levels = keys.length
    let widened = levels
    for (let w = levels - 1; w >= 0; w--) {
      const domains = new Set(nodes.map(node => domainAt(gang, keys[levels - 1 - w]!, node)))
      if (domains.size === 1 && !domains.has(undefined)) widened = w
    }
    const used = new Set(nodes.map(node => domainAt(gang, preferred, node) ?? `node ${node.name}`))
    weighted += (nodes.length * (levels - widened + 1 / used.size)) / (levels + 1)
    total += nodes.length
  }
  return total === 0 ? 1 : weighted / total
}
