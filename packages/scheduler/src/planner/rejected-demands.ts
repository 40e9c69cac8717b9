// SPDX-License-Identifier: Apache-2.0
import type { Model } from '../model/model.ts'
import { demandKey } from './demand-key.ts'
import type { GangTask } from './gang-demand.ts'

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
    const key = demandKey(this.#model, task)
    return key !== undefined && this.#keys.has(key)
  }

  add(task: GangTask): void {
    const key = demandKey(this.#model, task)
    if (key !== undefined) this.#keys.add(key)
  }
}
