// SPDX-License-Identifier: Apache-2.0

// Startup order with the real waiter in every pod with dependencies. Needs nodes that run the waiter.
import assert from 'node:assert/strict'
import { label, type Pod, waiter } from '@grove/api'
import { type Stored, WatchCache } from '@grove/kube'
import { resources } from '@grove/operator'
import { type Harness, isReady } from '../harness.ts'
import type { Scenario } from '../scenario.ts'

interface Ordered {
  readonly type: 'InOrder' | 'Explicit'
  /** The pods of each clique, its minimum, and its dependencies. */
  readonly cliques: Readonly<Record<string, { pods: number; minimum?: number; after?: string[] }>>
  readonly group?: { readonly members: string[]; readonly minimum: number; readonly scaledTo?: number }
  /** The dependencies of each clique as `name:minimum`. */
  readonly waits: Readonly<Record<string, readonly string[]>>
}

const started = 'simulate.grove.io/start-delay'

const imageOf = (clique: string) => `registry.example/${clique}:1`

/** Earlier cliques take longer to start: without waiters, the order would be reversed. */
function manifest({ type, cliques, group }: Ordered): string {
  const names = Object.keys(cliques)
  return JSON.stringify({
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueSet',
    metadata: { name: 'w' },
    spec: {
      replicas: 1,
      template: {
        cliqueStartupType: `CliqueStartupType${type}`,
        cliques: Object.entries(cliques).map(([name, { pods, minimum, after }]) => ({
          name,
          annotations: { [started]: `${(names.length - names.indexOf(name)) * 100}ms` },
          spec: {
            roleName: name,
            replicas: pods,
            ...(minimum && { minAvailable: minimum }),
            ...(after && { startsAfter: after }),
            podSpec: { containers: [{ name: 'main', image: imageOf(name) }] },
          },
        })),
        ...(group && {
          podCliqueScalingGroups: [
            { name: 's', cliqueNames: group.members, replicas: 2, minAvailable: group.minimum },
          ],
        }),
      },
    },
  })
}

const cliqueOf = ({ metadata }: Stored<Pod>) => metadata.labels?.[label.podClique] ?? ''

/** Checks every change of every pod, so that no violation is missed between two polls. */
export class ReadinessRecord implements AsyncDisposable {
  readonly violations: string[] = []
  readonly #cache: WatchCache<Pod>
  readonly #stop = new AbortController()
  readonly #running: Promise<void>

  constructor(harness: Harness, waits: Ordered['waits']) {
    this.#cache = new WatchCache(harness.client, resources.pods, { namespace: harness.namespace })
    this.#cache.onChange(({ old, new: pod }) => {
      if (!pod || !isReady(pod) || (old && isReady(old))) return
      for (const parent of waits[cliqueOf(pod)] ?? []) {
        const [name = '', minimum] = parent.split(':')
        if (this.#ready(name) < Number(minimum))
          this.violations.push(
            `${pod.metadata.name} was ready with ${this.#ready(name)} of ${minimum} pods of ${name}`,
          )
      }
    })
    this.#running = this.#cache.run(this.#stop.signal)
  }

  #ready(clique: string): number {
    return this.#cache.list().filter(pod => cliqueOf(pod) === clique && isReady(pod)).length
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#running
  }
}

/** `pods` is the final number of pods. */
async function checkOrder(harness: Harness, ordered: Ordered, pods: number): Promise<void> {
  await using record = new ReadinessRecord(harness, ordered.waits)
  const { name } = (await harness.apply(manifest(ordered))).metadata
  if (ordered.group?.scaledTo) {
    await harness.untilAvailable(name, 1)
    await harness.scale(resources.podCliqueScalingGroups, `${name}-0-s`, ordered.group.scaledTo)
  }
  const all = await harness.untilReady('w', pods)
  for (const pod of all) {
    const [own] = (pod.spec?.initContainers ?? []).filter(one => one.name === waiter.containerName)
    const wanted = ordered.waits[cliqueOf(pod)]?.map(parent => `--podcliques=${parent}`)
    assert.deepEqual(own?.args, wanted, pod.metadata.name)
    // The name has a suffix that looks like an index.
    const role = Object.keys(ordered.cliques).find(clique =>
      [`w-0-${clique}`, `w-0-s-${pod.metadata.labels?.[label.scalingGroupReplicaIndex]}-${clique}`].includes(
        cliqueOf(pod),
      ),
    )
    assert.equal(pod.spec?.containers[0]?.image, imageOf(role ?? ''))
  }
  // A pod that is created later waits too, and finds its dependencies ready.
  const last = Object.keys(ordered.waits).at(-1)!
  await harness.deletePod(all.find(pod => cliqueOf(pod) === last)!.metadata.name)
  await harness.untilReady('w', pods)
  assert.deepEqual(record.violations, [])
}

export const startupOrderScenarios: Scenario[] = [
  {
    name: 'in order, full: every clique waits for all pods of the previous one, in every group replica of the base gang',
    run: harness =>
      checkOrder(
        harness,
        {
          type: 'InOrder',
          cliques: { a: { pods: 2 }, b: { pods: 1 }, c: { pods: 3 } },
          group: { members: ['b', 'c'], minimum: 2 },
          waits: {
            'w-0-s-0-b': ['w-0-a:2'],
            'w-0-s-1-b': ['w-0-a:2'],
            'w-0-s-0-c': ['w-0-s-0-b:1', 'w-0-s-1-b:1'],
            'w-0-s-1-c': ['w-0-s-0-b:1', 'w-0-s-1-b:1'],
          },
        },
        10,
      ),
  },
  {
    name: 'in order, minimal: one pod of the parent is enough, and a scaled group replica waits for its own siblings',
    run: harness =>
      checkOrder(
        harness,
        {
          type: 'InOrder',
          cliques: { a: { pods: 2, minimum: 1 }, b: { pods: 1 }, c: { pods: 3, minimum: 1 } },
          group: { members: ['b', 'c'], minimum: 1, scaledTo: 3 },
          waits: {
            'w-0-s-0-b': ['w-0-a:1'],
            'w-0-s-0-c': ['w-0-s-0-b:1'],
            'w-0-s-1-c': ['w-0-s-1-b:1'],
            'w-0-s-2-c': ['w-0-s-2-b:1'],
          },
        },
        14,
      ),
  },
  {
    name: 'explicit, full: cliques wait for those that they name, in any position of the list',
    run: harness =>
      checkOrder(
        harness,
        {
          type: 'Explicit',
          cliques: { a: { pods: 2 }, b: { pods: 1, after: ['c'] }, c: { pods: 3, after: ['a'] } },
          group: { members: ['b', 'c'], minimum: 2 },
          waits: {
            'w-0-s-0-c': ['w-0-a:2'],
            'w-0-s-1-c': ['w-0-a:2'],
            'w-0-s-0-b': ['w-0-s-0-c:3', 'w-0-s-1-c:3'],
            'w-0-s-1-b': ['w-0-s-0-c:3', 'w-0-s-1-c:3'],
          },
        },
        10,
      ),
  },
  {
    name: 'explicit, minimal: a clique with two dependencies waits for both, also if their names have a common prefix',
    run: harness =>
      checkOrder(
        harness,
        {
          type: 'Explicit',
          cliques: {
            worker: { pods: 2, minimum: 1 },
            'prefill-worker': { pods: 2, minimum: 1, after: ['worker'] },
            'worker-b': { pods: 2, minimum: 2, after: ['worker'] },
            top: { pods: 1, after: ['prefill-worker', 'worker-b'] },
          },
          waits: {
            'w-0-prefill-worker': ['w-0-worker:1'],
            'w-0-worker-b': ['w-0-worker:1'],
            'w-0-top': ['w-0-prefill-worker:1', 'w-0-worker-b:2'],
          },
        },
        7,
      ),
  },
]
