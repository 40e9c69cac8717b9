// SPDX-License-Identifier: Apache-2.0

import type { ClusterView, Lookup } from '@grove/api'
import type { ManifestDocument } from './manifest.ts'
import { isObject } from './manifest-value.ts'

/** A cluster that contains the objects of earlier manifests: topology bindings and queues, which admission looks up. */
export class ClusterFromManifests implements ClusterView {
  readonly #bindings = new Map<string, readonly string[]>()
  readonly #queues = new Map<string, string>()

  add(object: unknown): void {
    if (!isObject(object) || !isObject(object.metadata)) return
    const name = String(object.metadata.name ?? '')
    if (object.kind === 'ClusterTopologyBinding') this.#bindings.set(name, domainsOf(object.spec))
    if (object.kind === 'Queue' && String(object.apiVersion).startsWith('scheduling.volcano.sh/'))
      this.#queues.set(name, isObject(object.status) ? String(object.status.state ?? '') : '')
  }

  topologyDomains(binding: string): Lookup<readonly string[]> {
    return found(this.#bindings.get(binding))
  }

  volcanoQueueState(queue: string): Lookup<string> {
    return found(this.#queues.get(queue))
  }
}

export function clusterOf(documents: readonly ManifestDocument[]): ClusterView {
  const cluster = new ClusterFromManifests()
  for (const document of documents) cluster.add(document.value)
  return cluster
}

function domainsOf(spec: unknown): string[] {
  const levels = isObject(spec) && Array.isArray(spec.levels) ? spec.levels : []
  return levels.filter(isObject).map(level => String(level.domain ?? ''))
}

function found<T>(value: T | undefined): Lookup<T> {
  return value === undefined ? { outcome: 'notFound' } : { outcome: 'found', value }
}
