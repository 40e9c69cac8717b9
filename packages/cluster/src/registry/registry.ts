// SPDX-License-Identifier: Apache-2.0

import type { Resource } from './resource.ts'

/** The resources that are served. Custom resources are added and removed while the server runs. */
export class Registry {
  readonly #resources = new Map<string, Resource>()
  #changes = 0

  /** Incremented with every change, so that caches of derived data can be invalidated. */
  get changes(): number {
    return this.#changes
  }

  add(resource: Resource): void {
    this.#changes++
    this.#resources.set(keyOf(resource.group, resource.version, resource.plural), resource)
  }

  remove(group: string, version: string, plural: string): void {
    this.#changes++
    this.#resources.delete(keyOf(group, version, plural))
  }

  find(group: string, version: string, plural: string): Resource | undefined {
    return this.#resources.get(keyOf(group, version, plural))
  }

  findKind(group: string, version: string, kind: string): Resource | undefined {
    for (const resource of this.#resources.values())
      if (resource.kind === kind && resource.group === group && resource.version === version) return resource
    return undefined
  }

  all(): IterableIterator<Resource> {
    return this.#resources.values()
  }

  hasBuiltInVersion(group: string, version: string): boolean {
    for (const resource of this.#resources.values())
      if (resource.struct && resource.group === group && resource.version === version) return true
    return false
  }

  /** Returns one served version per storage, to visit every stored object once. */
  storages(): Resource[] {
    const seen = new Map<string, Resource>()
    for (const resource of this.#resources.values())
      if (!seen.has(resource.storage)) seen.set(resource.storage, resource)
    return [...seen.values()]
  }
}

function keyOf(group: string, version: string, plural: string): string {
  return `${group}/${version}/${plural}`
}
