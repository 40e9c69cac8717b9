// SPDX-License-Identifier: Apache-2.0
import { canonicalText } from '../order.ts'
import type { PodNeeds, SnapshotPod } from '../types.ts'

/** Pods that every filter treats alike. */
export interface Shape {
  readonly id: number
  readonly needs: PodNeeds
  readonly namespace: string
  /** Labels of one of the pods. Only those that some pod affinity reads are equal for all pods of the shape. */
  readonly labels: Readonly<Record<string, string>>
  /** Resource indexes and amounts. */
  readonly resources: readonly number[]
  readonly amounts: readonly number[]
  /** Claims that are not allocated yet and that other pods use too: the first pod on a node takes their devices. */
  readonly shared: readonly SharedClaim[]
}

export interface SharedClaim {
  readonly name: string
  readonly resources: readonly number[]
  readonly amounts: readonly number[]
}

const texts = new WeakMap<PodNeeds, string>()

/** Equal needs have equal texts. */
function needsText(needs: PodNeeds): string {
  let text = texts.get(needs)
  if (text === undefined) {
    text = canonicalText(needs)
    texts.set(needs, text)
  }
  return text
}

export class Shapes {
  readonly all: Shape[] = []
  readonly #byText = new Map<string, Shape>()
  readonly #byNeeds = new WeakMap<PodNeeds, Map<string, Shape>>()
  readonly #resourceIndex: (name: string) => number
  /** Label keys that some pod affinity reads. */
  readonly #labelKeys: readonly string[]

  constructor(resourceIndex: (name: string) => number, labelKeys: readonly string[]) {
    this.#resourceIndex = resourceIndex
    this.#labelKeys = labelKeys
  }

  of({ needs, namespace, labels }: SnapshotPod): Shape {
    const scope =
      this.#labelKeys.length > 0 ? canonicalText([namespace, this.#labelKeys.map(key => labels[key])]) : ''
    const known = this.#byNeeds.get(needs)?.get(scope)
    if (known) return known
    const text = `${needsText(needs)}${scope}`
    let shape = this.#byText.get(text)
    if (!shape) {
      const requests = Object.entries(needs.requests)
      shape = {
        id: this.all.length,
        needs,
        namespace,
        labels,
        resources: requests.map(([name]) => this.#resourceIndex(name)),
        amounts: requests.map(([, amount]) => amount),
        shared: needs.sharedClaims.map(({ name, devices }) => ({
          name,
          resources: Object.keys(devices).map(resource => this.#resourceIndex(resource)),
          amounts: Object.values(devices),
        })),
      }
      this.all.push(shape)
      this.#byText.set(text, shape)
    }
    const byScope = this.#byNeeds.get(needs) ?? new Map<string, Shape>()
    byScope.set(scope, shape)
    this.#byNeeds.set(needs, byScope)
    return shape
  }
}
