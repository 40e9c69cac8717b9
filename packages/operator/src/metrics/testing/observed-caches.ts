// SPDX-License-Identifier: Apache-2.0

// Caches for tests and benchmarks of metrics: lists of objects that the test changes.
import type { Pod, PodCliqueSet, PodGang } from '@grove/api'
import { label } from '@grove/api'
import type { ChangeHandler, KubeObject, Stored } from '@grove/kube'
import type { Caches } from '../../caches/caches.ts'

class ObservedObjects<T extends KubeObject> {
  readonly #objects = new Map<string, Stored<T>>()
  readonly #handlers = new Set<ChangeHandler<T>>()

  list(): Stored<T>[] {
    return [...this.#objects.values()]
  }

  onChange(handler: ChangeHandler<T>): () => void {
    this.#handlers.add(handler)
    for (const object of this.#objects.values())
      handler({ type: 'add', old: undefined, new: object, source: 'list' })
    return () => this.#handlers.delete(handler)
  }

  put(object: Stored<T>): void {
    const key = `${object.metadata.namespace}/${object.metadata.name}`
    const old = this.#objects.get(key)
    this.#objects.set(key, object)
    for (const handler of this.#handlers)
      handler(
        old
          ? { type: 'update', old, new: object, source: 'watch' }
          : { type: 'add', old: undefined, new: object, source: 'watch' },
      )
  }

  delete(object: Stored<T>): void {
    this.#objects.delete(`${object.metadata.namespace}/${object.metadata.name}`)
    for (const handler of this.#handlers)
      handler({ type: 'delete', old: object, new: undefined, source: 'watch' })
  }
}

export function observedCaches() {
  const sets = new ObservedObjects<PodCliqueSet>()
  const gangs = new ObservedObjects<PodGang>()
  const pods = new ObservedObjects<Pod>()
  return { sets, gangs, pods, caches: { sets, gangs, pods } as unknown as Caches }
}

export interface SetOptions {
  readonly name?: string
  readonly replicas?: number
  readonly pods?: number
  readonly createdAt?: string
  readonly status?: object
  readonly deletionTimestamp?: string
}

export function observedSet({
  name = 'llm',
  replicas = 1,
  pods = 3,
  createdAt = '2030-01-01T00:00:00Z',
  status,
  deletionTimestamp,
}: SetOptions = {}): Stored<PodCliqueSet> {
  return {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueSet',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-of-${name}`,
      resourceVersion: '1',
      creationTimestamp: createdAt,
      ...(deletionTimestamp && { deletionTimestamp }),
    },
    spec: {
      replicas,
      template: {
        cliques: [
          {
            name: 'worker',
            spec: {
              roleName: 'worker',
              replicas: pods,
              podSpec: { containers: [{ name: 'main', image: 'a' }] },
            },
          },
        ],
      },
    },
    ...(status && { status }),
  } as Stored<PodCliqueSet>
}

export type PodProgress = 'gated' | 'pending' | 'starting' | 'ready' | 'failed' | 'terminating'

export function observedPod(name: string, progress: PodProgress, set = 'llm'): Stored<Pod> {
  const isOnNode = progress === 'starting' || progress === 'ready' || progress === 'terminating'
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-of-${name}`,
      resourceVersion: '1',
      labels: { [label.partOf]: set },
      ...(progress === 'terminating' && { deletionTimestamp: '2030-01-01T01:00:00Z' }),
    },
    spec: {
      containers: [],
      ...(progress === 'gated' && { schedulingGates: [{ name: 'grove.io/podgang-pending-creation' }] }),
    },
    status: {
      phase: progress === 'failed' ? 'Failed' : isOnNode ? 'Running' : 'Pending',
      conditions: [
        {
          type: 'PodScheduled',
          status: isOnNode ? 'True' : 'False',
          lastTransitionTime: '2030-01-01T00:00:00Z',
        },
        {
          type: 'Ready',
          status: progress === 'ready' ? 'True' : 'False',
          lastTransitionTime: '2030-01-01T00:00:00Z',
        },
      ],
    },
  } as unknown as Stored<Pod>
}
