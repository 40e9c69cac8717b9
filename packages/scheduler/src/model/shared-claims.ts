// SPDX-License-Identifier: Apache-2.0
import type { Model } from './model.ts'
import type { Shape } from './shapes.ts'

/**
 * Resource claims that several pods share and that are not allocated yet. The first pod that gets a node takes the devices
 * of the claim there, and all other pods of the claim must run on the same node. Removing the last pod gives them back.
 */
export class SharedClaims {
  readonly #model: Model
  readonly #placed = new Map<string, { node: number; pods: number }>()

  constructor(model: Model) {
    this.#model = model
  }

  /** Returns the number of pods of the shape that fit on the node, out of `most` that its own requests allow. */
  capacity(shape: Shape, node: number, most: number): number {
    /** Devices of claims that no pod has a node for yet. */
    const open = new Map<number, number>()
    for (const { name, resources, amounts } of shape.shared) {
      const placed = this.#placed.get(name)
      if (placed && placed.node !== node) return 0
      if (!placed)
        resources.forEach((resource, i) => {
          open.set(resource, (open.get(resource) ?? 0) + amounts[i]!)
        })
    }
    let fits = most
    for (const [resource, amount] of open) {
      const left = this.#model.freeOf(node, resource) - amount
      const own = shape.amounts[shape.resources.indexOf(resource)]
      fits = Math.min(fits, left < 0 ? 0 : own === undefined ? fits : Math.floor(left / own))
    }
    return fits
  }

  changed({ shared }: Shape, node: number, count: number): void {
    for (const { name, resources, amounts } of shared) {
      const pods = this.#placed.get(name)?.pods ?? 0
      const now = pods + count
      if (now === 0) this.#placed.delete(name)
      else this.#placed.set(name, { node, pods: now })
      const sign = Math.sign(now) - Math.sign(pods)
      if (sign !== 0)
        resources.forEach((resource, i) => {
          this.#model.takeShared(node, resource, sign * amounts[i]!)
        })
    }
  }
}
