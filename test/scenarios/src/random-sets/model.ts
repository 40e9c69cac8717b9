// SPDX-License-Identifier: Apache-2.0

// What sizes the cliques and scaling groups of a set must have: the template's when they were made, afterwards what
// somebody scaled them to.
import { label, type PodCliqueSet } from '@grove/api'
import type { KubeObject, Stored } from '@grove/kube'

export class Model {
  readonly name: string
  /** Several where it depends on who was faster. */
  readonly #sizes = new Map<string, ReadonlySet<number>>()

  /** Replicas beyond this were not wanted for a moment: nobody knows whether they were already gone. */
  #fewest = Number.POSITIVE_INFINITY

  constructor(name: string) {
    this.name = name
  }

  /** Somebody scaled a child of this set. */
  resize(set: PodCliqueSet, child: Stored<KubeObject>, replicas: number): void {
    const doomed = Number(child.metadata.labels?.[label.setReplicaIndex]) >= this.#fewest
    const sizes = doomed ? [replicas, templateSize(set, child) ?? replicas] : [replicas]
    this.#sizes.set(child.metadata.name, new Set(sizes))
  }

  /** The child was deleted and is made anew. */
  renew(child: string, templateSize: number | undefined): void {
    if (templateSize === undefined) this.#sizes.delete(child)
    else this.#sizes.set(child, new Set([templateSize]))
  }

  /** Replicas that go and come back before anybody noticed keep their sizes; otherwise they begin anew. */
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

  /** The size that a child must have now; what it really is where either would be right. */
  sizeOf(child: string, templateSize: number, actual: number | undefined): number {
    const allowed = this.#sizes.get(child)
    if (!allowed) return templateSize
    if (actual !== undefined && allowed.has(actual)) return actual
    return [...allowed][0]!
  }

  /** All is quiet: what is there now is what it stays. */
  converged(actual: ReadonlyMap<string, number>): void {
    this.#fewest = Number.POSITIVE_INFINITY
    for (const child of this.#sizes.keys()) {
      const size = actual.get(child)
      if (size === undefined) this.#sizes.delete(child)
      else this.#sizes.set(child, new Set([size]))
    }
  }
}

/** The size that the template gives a standalone clique or a scaling group; undefined for members of groups. */
export function templateSize(set: PodCliqueSet, { metadata }: Stored<KubeObject>): number | undefined {
  if (metadata.labels?.[label.scalingGroup] !== undefined) return undefined
  const prefix = `${set.metadata.name}-${metadata.labels?.[label.setReplicaIndex]}-`
  const { cliques, podCliqueScalingGroups = [] } = set.spec.template
  return (
    cliques.find(({ name }) => prefix + name === metadata.name)?.spec.replicas ??
    podCliqueScalingGroups.find(({ name }) => prefix + name === metadata.name)?.replicas
  )
}
