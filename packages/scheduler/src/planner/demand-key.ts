// SPDX-License-Identifier: Apache-2.0
import type { Model } from '../model/model.ts'
import type { GangTask } from './gang-demand.ts'
import type { Scope } from './scopes.ts'

/**
 * Gangs with the same key need the same. Undefined for gangs whose pods run already or share a domain with others, and for
 * rules between pods: another gang can satisfy an affinity. Keys of different models cannot be compared.
 */
export function demandKey(model: Model, task: GangTask): string | undefined {
  const { gang, minimum, running, replica, isUniform, scope } = task
  if (!isUniform || replica || running.some(nodes => nodes.length > 0)) return undefined
  // Also the minimum of a uniform gang can have pods of several shapes, if the group has no other pods.
  const demands = minimum.map(pods => Map.groupBy(pods, pod => model.shapes.of(pod)))
  if (demands.some(shapes => shapes.keys().some(shape => model.isCoupled(shape)))) return undefined
  const textOf = ({ required, groups, children }: Scope): string => {
    const inside = children.length
      ? children.map(textOf)
      : groups.flatMap(group => [...demands[group]!].map(([{ id }, pods]) => `${pods.length} of ${id}`))
    return JSON.stringify([required?.key ?? '', ...inside.sort()])
  }
  return JSON.stringify([gang.levels.map(({ key }) => key), textOf(scope)])
}
