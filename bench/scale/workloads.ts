// SPDX-License-Identifier: Apache-2.0

// The sets of the benchmark, and all objects that every operator must write for them.
import {
  admit,
  defaultConfiguration,
  defaultScheduler,
  emptyCluster,
  enabledSchedulers,
  type Pod,
  type PodCliqueSet,
  podSchedulingGate,
} from '@grove/api'
import { type RenderedObject, render, type StoredSet, schedulerBackends } from '@grove/operator'

export interface Workload {
  readonly title: string
  readonly pods: number
  /** Replicas of the set. */
  readonly replicas: number
  set(namespace: string): PodCliqueSet
}

/** Many small replicas. */
export function replicated(replicas: number, podsEach: number, name = 'big'): Workload {
  return {
    title: `${replicas} replicas of ${podsEach} pods`,
    pods: replicas * podsEach,
    replicas,
    set: namespace => podCliqueSet(name, namespace, replicas, { cliques: [clique('w', podsEach)] }),
  }
}

/** The same as replicas of one scaling group. */
export function replicatedGroup(replicas: number, podsEach: number, name = 'big'): Workload {
  return {
    title: `a group of ${replicas} replicas of ${podsEach} pods`,
    pods: replicas * podsEach,
    replicas: 1,
    set: namespace =>
      podCliqueSet(name, namespace, 1, {
        cliques: [clique('w', podsEach)],
        podCliqueScalingGroups: [{ name: 'g', cliqueNames: ['w'], replicas, minAvailable: 1 }],
      }),
  }
}

const groupPods = 4
const frontendPods = 8

/** One replica of a frontend and two scaling groups of many replicas, each a leader and three workers. */
export function grouped(groupReplicas: number): Workload {
  return {
    title: `a frontend and 2 × ${groupReplicas} group replicas`,
    pods: frontendPods + 2 * groupReplicas * groupPods,
    replicas: 1,
    set: namespace =>
      podCliqueSet('huge', namespace, 1, {
        cliques: [
          clique('fe', frontendPods),
          ...['p', 'd'].flatMap(name => [clique(`${name}l`, 1), clique(`${name}w`, groupPods - 1)]),
        ],
        podCliqueScalingGroups: ['p', 'd'].map(name => ({
          name,
          cliqueNames: [`${name}l`, `${name}w`],
          replicas: groupReplicas,
          minAvailable: 1,
        })),
      }),
  }
}

function podCliqueSet(
  name: string,
  namespace: string,
  replicas: number,
  template: PodCliqueSet['spec']['template'],
): PodCliqueSet {
  return {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueSet',
    metadata: { name, namespace },
    spec: { replicas, template },
  }
}

function clique(name: string, pods: number) {
  return { name, spec: { roleName: name, replicas: pods, minAvailable: pods, podSpec: podSpec() } }
}

function podSpec() {
  return { containers: [{ name: 'main', image: 'registry.example/main:1' }] }
}

/** The objects that must be written for a workload, by kind; pods have their gate. */
export function objectsOf(workload: Workload, namespace: string): ReadonlyMap<string, RenderedObject[]> {
  return objectsOfSet(workload.set(namespace))
}

/** The same for a set. */
export function objectsOfSet(object: PodCliqueSet): ReadonlyMap<string, RenderedObject[]> {
  const configuration = defaultConfiguration()
  const response = admit(
    { operation: 'CREATE', kind: 'PodCliqueSet', object },
    { configuration, cluster: emptyCluster },
  )
  if (!response.allowed) throw new Error(response.message)
  const rendered = render(response.object as StoredSet, {
    backends: schedulerBackends([...enabledSchedulers(configuration)], defaultScheduler(configuration)),
    configuration,
    waiterImage: 'registry.example/waiter:1',
    topologyBindings: [],
    claimTemplates: [],
    podTemplateHashes: () => ({}),
  })
  const byKind = new Map<string, RenderedObject[]>()
  for (const object of rendered) {
    const { ownerReferences: _, ...metadata } = object.metadata as Pod['metadata']
    const bare = { ...object, metadata } as RenderedObject
    const kind = object.kind ?? ''
    byKind.set(kind, [...(byKind.get(kind) ?? []), kind === 'Pod' ? gated(bare) : bare])
  }
  return byKind
}

function gated(pod: RenderedObject): RenderedObject {
  const spec = pod.spec as Pod['spec']
  return { ...pod, spec: { ...spec, schedulingGates: [{ name: podSchedulingGate }] } }
}
