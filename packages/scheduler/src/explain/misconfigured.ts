// SPDX-License-Identifier: Apache-2.0
import { isDeviceResource } from '../devices/selections.ts'
import { Model } from '../model/model.ts'
import { taskOf } from '../planner/gang-demand.ts'
import { allScopes } from '../planner/scopes.ts'
import { type Cause, emptyCluster } from './case.ts'
import { distinct } from './evidence.ts'

/** Misconfigured rows that need no search. They also apply to blocked gangs. */
export function misconfiguration(model: Model, index: number): Cause | undefined {
  const { snapshot } = model
  const gang = snapshot.gangs[index]!
  const task = taskOf(model, gang, index, true)
  for (const scope of allScopes(task.scope)) {
    if (!scope.required || scope.required.partition.domains.length > 0) continue
    if (!scope.groups.some(group => task.minimum[group]!.length > 0)) continue
    const { key } = scope.required
    const level = gang.levels.find(level => level.key === key)?.domain ?? key
    return { code: 'TopologyLevelUnlabelled', facts: { level, key }, scope, level }
  }
  return undefined
}

/** Rows that consider one pod and the labels and resources of nodes. */
export function unknownNeeds(model: Model, index: number): Cause | undefined {
  const { nodes } = model.snapshot
  const gang = model.snapshot.gangs[index]!
  const { minimum } = taskOf(model, gang, index, true)
  for (const [group, pods] of minimum.entries()) {
    const clique = gang.groups[group]!.name
    for (const { needs } of distinct(pods))
      for (const resource of Object.keys(needs.requests))
        if (
          resource !== 'pods' &&
          !isDeviceResource(resource) &&
          !nodes.some(({ allocatable }) => allocatable[resource] !== undefined)
        )
          return { code: 'ResourceUnknown', facts: { resource, clique } }
  }
  const relaxed = new Model({ ...model.snapshot, gangs: [gang] }, new Set([...emptyCluster, 'podCount']))
  for (const [group, pods] of minimum.entries()) {
    const clique = gang.groups[group]!.name
    for (const pod of distinct(pods))
      if (!relaxed.allowed(relaxed.shapes.of(pod)).includes(1))
        return { code: 'SelectorMatchesNoNode', facts: { clique, n: nodes.length } }
  }
  return undefined
}
