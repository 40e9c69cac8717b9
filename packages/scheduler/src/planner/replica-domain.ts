// SPDX-License-Identifier: Apache-2.0

// `replicaScope: Require`: all gangs of a PodCliqueSet replica are in one domain of the base gang's required key.
import type { Partition } from '../model/partitions.ts'
import { confine, type DemandScope, type NodeMask } from '../solver/index.ts'
import type { Gang, ReplicaScope, Snapshot } from '../types.ts'
import type { GangTask } from './gang-demand.ts'
import type { Placement } from './place.ts'

/** The snapshot for `replicaScope: Require`: gangs of one replica have a scope in common. */
export function withReplicaScopes(snapshot: Snapshot): Snapshot {
  const idOf = ({ namespace, name, baseGang }: Gang) => `${namespace}/${baseGang ?? name}`
  const replicas = Map.groupBy(snapshot.gangs, idOf)
  const scopes = new Map<string, ReplicaScope>()
  for (const [id, members] of replicas) {
    const base = members.find(({ baseGang }) => baseGang === undefined)
    const key = base?.constraint.required
    if (!base || !key || members.length < 2) continue
    const nodes = members.flatMap(({ groups }) =>
      groups.flatMap(({ placed }) => placed.map(pod => pod.node!)),
    )
    const name = `replica of PodGang ${base.name}`
    scopes.set(id, { id, name, key, levels: base.levels, nodes: [...new Set(nodes)].sort() })
  }
  if (scopes.size === 0) return snapshot
  const scoped = (gang: Gang): Gang => {
    const replicaScope = scopes.get(idOf(gang))
    return replicaScope ? { ...gang, replicaScope } : gang
  }
  return { ...snapshot, gangs: snapshot.gangs.map(scoped) }
}

/** The task with the nodes that gangs of its replica got in this cycle. */
export function withReplicaDomain(
  task: GangTask,
  placed: readonly { readonly task: GangTask; readonly placement: Placement }[],
): GangTask {
  const { replica } = task
  if (!replica) return task
  const nodes = placed
    .filter(other => other.task !== task && other.task.replica?.id === replica.id)
    .flatMap(({ placement }) => placement.map(({ node }) => node))
  return nodes.length > 0
    ? { ...task, replica: { ...replica, running: [...replica.running, ...nodes] } }
    : task
}

/** Domains that running pods pin the replica of a gang to. */
export function replicaDomains({ replica }: GangTask): Set<number> {
  const domains = new Set(replica?.running.map(node => replica.partition.domainOf[node]!))
  domains.delete(-1)
  return domains
}

/** Puts the demands of gangs that must share a domain into one scope. */
export function inReplicas(tasks: readonly GangTask[], scopes: readonly DemandScope[]): DemandScope[] {
  const open = new Map<string, DemandScope[]>()
  const found: DemandScope[] = []
  for (const [i, task] of tasks.entries()) {
    const { replica } = task
    const domains = replicaDomains(task)
    const children = replica && open.get(replica.id)
    if (!replica) found.push(scopes[i]!)
    else if (domains.size > 0) found.push(confine(scopes[i]!, domainMask(replica.partition, domains)))
    else if (children) children.push(scopes[i]!)
    else {
      const own = [scopes[i]!]
      open.set(replica.id, own)
      found.push({ partition: replica.partition, buckets: [], children: own })
    }
  }
  return found
}

export function domainMask(partition: Partition, domains: ReadonlySet<number>): NodeMask {
  return {
    id: `replica ${partition.id}:${[...domains].sort((left, right) => left - right).join('+')}`,
    nodes: Uint8Array.from(partition.domainOf, domain => (domains.has(domain) ? 1 : 0)),
  }
}
