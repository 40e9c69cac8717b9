// SPDX-License-Identifier: Apache-2.0
import type { Model } from '../model/model.ts'
import type { GangTask } from './gang-demand.ts'
import type { Scope } from './scopes.ts'

/**
 * The demands that were proved not to fit in this cycle. A cycle only adds pods to the nodes, so an equal demand of a later
 * gang does not fit either. Thousands of gangs can wait for the same reason.
 */
export class RejectedDemands {
  readonly #model: Model
  readonly #keys = new Set<string>()

  constructor(model: Model) {
    this.#model = model
  }

  has(task: GangTask): boolean {
    const key = this.#keyOf(task)
    return key !== undefined && this.#keys.has(key)
  }

  add(task: GangTask): void {
    const key = this.#keyOf(task)
    if (key !== undefined) this.#keys.add(key)
  }

  /**
   * Gangs with the same key need the same. Undefined for gangs whose pods run already or share a domain with others, and for
   * rules between pods: another gang can satisfy an affinity.
   */
  #keyOf(task: GangTask): string | undefined {
    const { gang, minimum, running, replica, isUniform, scope } = task
    const { shapes } = this.#model
    if (!isUniform || replica || running.some(nodes => nodes.length > 0)) return undefined
    const demands = minimum.map(pods => ({ shape: pods[0] && shapes.of(pods[0]), count: pods.length }))
    if (demands.some(({ shape }) => shape && this.#model.isCoupled(shape))) return undefined
    const textOf = ({ required, groups, children }: Scope): string => {
      const inside = children.length
        ? children.map(textOf)
        : groups.map(group => `${demands[group]!.count} of ${demands[group]!.shape?.id ?? ''}`)
      return JSON.stringify([required?.key ?? '', ...inside.sort()])
    }
    return JSON.stringify([gang.levels.map(({ key }) => key), textOf(scope)])
  }
}
