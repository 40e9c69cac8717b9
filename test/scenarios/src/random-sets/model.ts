// SPDX-License-Identifier: Apache-2.0

// The expected sizes of the cliques and scaling groups of a set: the size of the template at their creation, then the
// size to which they were scaled.
import { label, type PodCliqueSet } from '@grove/api'
import type { KubeObject, Stored } from '@grove/kube'

export class Model {
  readonly name: string
  /** True if the strategy was OnDelete: pods of earlier templates may exist. */
  mayHaveOutdatedPods = false
  /** Several sizes are allowed if the result depends on a race. */
  readonly #sizes = new Map<string, ReadonlySet<number>>()

  /** Replicas from this index on were unwanted for a moment. The operator may have deleted them already. */
  #fewest = Number.POSITIVE_INFINITY

  constructor(name: string) {
    this.name = name
  }

  /** A child of this set was scaled. */
  resize(set: PodCliqueSet, child: Stored<KubeObject>, replicas: number): void {
    const doomed = Number(child.metadata.labels?.[label.setReplicaIndex]) >= this.#fewest
    const sizes = doomed ? [replicas, templateSize(set, child) ?? replicas] : [replicas]
    this.#sizes.set(child.metadata.name, new Set(sizes))
  }

  /** The set was deleted and created again. */
  reset(): void {
    this.#sizes.clear()
    this.#fewest = Number.POSITIVE_INFINITY
  }

  /** The child was deleted and will be recreated. */
  renew(child: string, templateSize: number | undefined): void {
    if (templateSize === undefined) this.#sizes.delete(child)
    else this.#sizes.set(child, new Set([templateSize]))
  }

  /** Replicas that are removed and wanted again keep their sizes, unless the operator has deleted them in between. */
  scaleSet(replicas: number, before: PodCliqueSet): void {
    this.#fewest = Math.min(this.#fewest, replicas)
    const { template, replicas: had = 0 } = before.spec
    const all = [
      ...template.cliques.map(({ name, spec }) => [name, spec.replicas] as const),
      ...(template.podCliqueScalingGroups ?? []).map(({ name, replicas = 1 }) => [name, replicas] as const),
    ]
    for (let replica = replicas; replica < had; replica++)
      for (const [name, size] of all) {
        const child = `${this.name}-${replica}-${name}`
        const known = this.#sizes.get(child)
        if (known) this.#sizes.set(child, new Set([...known, size]))
      }
  }

  /** Returns the expected size of a child. If several sizes are allowed, returns the live one among them. */
  sizeOf(child: string, templateSize: number, actual: number | undefined): number {
    const allowed = this.#sizes.get(child)
    if (!allowed) return templateSize
    if (actual !== undefined && allowed.has(actual)) return actual
    return [...allowed][0]!
  }

  /** The set has converged: the live sizes are now the expected ones. */
  converged(actual: ReadonlyMap<string, number>): void {
    this.#fewest = Number.POSITIVE_INFINITY
    for (const child of this.#sizes.keys()) {
      const size = actual.get(child)
      if (size === undefined) this.#sizes.delete(child)
      else this.#sizes.set(child, new Set([size]))
    }
  }
}

/** Returns the template's size of a standalone clique or scaling group, or undefined for members of groups. */
export function templateSize(set: PodCliqueSet, { metadata }: Stored<KubeObject>): number | undefined {
  if (metadata.labels?.[label.scalingGroup] !== undefined) return undefined
  const prefix = `${set.metadata.name}-${metadata.labels?.[label.setReplicaIndex]}-`
  const { cliques, podCliqueScalingGroups = [] } = set.spec.template
  return (
    cliques.find(({ name }) => prefix + name === metadata.name)?.spec.replicas ??
    podCliqueScalingGroups.find(({ name }) => prefix + name === metadata.name)?.replicas
  )
}
