// SPDX-License-Identifier: Apache-2.0

// Parents are deleted before their pods. When the last pod of a removed replica is gone, no other object of the replica
// exists.
import assert from 'node:assert/strict'
import type { KubeObject, Resource, Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Harness } from '../harness.ts'
import type { Scenario } from '../scenario.ts'
import { grouped, solo } from './manifests.ts'

const parentKinds = [
  resources.podCliques,
  resources.podCliqueScalingGroups,
  resources.podGangs,
  resources.services,
] as unknown as readonly Resource<KubeObject>[]
const pods = resources.pods as unknown as Resource<KubeObject>

/**
 * Watches objects by kind and records when each was deleted, or marked for deletion, as a resource version. Events of
 * different kinds arrive in any order, but their versions are in the order of the writes.
 */
class DeletionWatch {
  readonly #abort = new AbortController()
  readonly #watches: Promise<unknown>[] = []
  /** `kind name` → version at which it was first seen to be terminating or gone. */
  readonly terminated = new Map<string, bigint>()
  /** `kind name` → version at which it was gone. */
  readonly gone = new Map<string, bigint>()

  static async start({ client, namespace }: Harness): Promise<DeletionWatch> {
    const watch = new DeletionWatch()
    for (const resource of [...parentKinds, pods]) {
      const { resourceVersion } = await client.list(resource, { namespace })
      const options = { namespace, resourceVersion, signal: watch.#abort.signal }
      watch.#watches.push(
        client
          .watch(resource, options, event => {
            if (event.type !== 'BOOKMARK') watch.#see(resource, event.object, event.type === 'DELETED')
          })
          .catch(() => undefined),
      )
    }
    return watch
  }

  async stop(): Promise<void> {
    this.#abort.abort()
    await Promise.all(this.#watches)
  }

  #see({ kind }: Resource, { metadata }: Stored<KubeObject>, isGone: boolean): void {
    const id = `${kind} ${metadata.name}`
    const version = BigInt(metadata.resourceVersion)
    if ((isGone || metadata.deletionTimestamp) && !this.terminated.has(id)) this.terminated.set(id, version)
    if (isGone) this.gone.set(id, version)
  }
}

interface RemovedReplica {
  readonly name: string
  has(kind: string, name: string): boolean
}

interface Removal {
  readonly replicas: readonly RemovedReplica[]
  readonly parents: number
  readonly pods: number
  begin(): Promise<void>
}

async function assertOrder(harness: Harness, removal: Removal): Promise<void> {
  const watch = await DeletionWatch.start(harness)
  try {
    await removal.begin()
    const isOf = (replica: RemovedReplica, id: string) => {
      const [kind = '', name = ''] = id.split(' ')
      return replica.has(kind, name)
    }
    const count = (ids: ReadonlyMap<string, bigint>, isPod: boolean) =>
      [...ids.keys()].filter(
        id => id.startsWith('Pod ') === isPod && removal.replicas.some(replica => isOf(replica, id)),
      ).length
    await harness.until(
      `${removal.parents} parents and ${removal.pods} pods to be deleted`,
      async () => [count(watch.gone, false), count(watch.gone, true)],
      ([parents, podsGone]) => parents === removal.parents && podsGone === removal.pods,
    )
    for (const replica of removal.replicas) {
      const versions = (of: ReadonlyMap<string, bigint>, isPod: boolean) =>
        [...of].filter(([id]) => id.startsWith('Pod ') === isPod && isOf(replica, id))
      const lastPodGone = versions(watch.gone, true).reduce((last, [, at]) => (at > last ? at : last), 0n)
      for (const [id, at] of versions(watch.terminated, false))
        assert.ok(at < lastPodGone, `${id} was there when the last pod of ${replica.name} was deleted`)
    }
  } finally {
    await watch.stop()
  }
}

const replicaOfSet = (name: string): RemovedReplica => ({
  name,
  has: (_, object) => object === name || object.startsWith(`${name}-`),
})

/** Gangs of group replicas are numbered from the first replica beyond minAvailable, which is 1. */
const replicaOfGroup = (group: string, replica: number): RemovedReplica => ({
  name: `${group}-${replica}`,
  has: (kind, object) =>
    kind === 'PodGang' ? object === `${group}-${replica - 1}` : object.startsWith(`${group}-${replica}-`),
})

export const deletionOrderScenarios: Scenario[] = [
  {
    name: 'scale-in of a set from 20 to 10 replicas deletes all parents before the last pod of a replica',
    async run(harness) {
      await harness.apply(solo.replace('replicas: 1', 'replicas: 20'))
      await harness.untilReady('solo', 40)
      await harness.untilAvailable('solo', 20)
      await harness.untilQuiet()
      await assertOrder(harness, {
        replicas: Array.from({ length: 10 }, (_, at) => replicaOfSet(`solo-${10 + at}`)),
        // Each replica has a clique, a gang and a Service.
        parents: 30,
        pods: 20,
        begin: () => harness.scale(resources.podCliqueSets, 'solo', 10),
      })
      await harness.untilReady('solo', 20)
    },
  },
  {
    name: 'scale-in of a group from 5 to 2 replicas deletes all parents before the last pod of a group replica',
    async run(harness) {
      await harness.apply(grouped.replace('replicas: 2, minAvailable: 1}', 'replicas: 5, minAvailable: 1}'))
      await harness.untilReady('grouped', 22)
      await harness.untilAvailable('grouped', 1)
      await harness.untilQuiet()
      await assertOrder(harness, {
        replicas: [2, 3, 4].map(replica => replicaOfGroup('grouped-0-eng', replica)),
        // Each replica has two cliques and a gang.
        parents: 9,
        pods: 12,
        begin: () => harness.scale(resources.podCliqueScalingGroups, 'grouped-0-eng', 2),
      })
      await harness.untilReady('grouped', 10)
    },
  },
  {
    name: 'deletion of a set deletes all parents before the last pod',
    async run(harness) {
      await harness.apply(grouped.replace('replicas: 1', 'replicas: 3'))
      await harness.untilReady('grouped', 30)
      await harness.untilAvailable('grouped', 3)
      await harness.untilQuiet()
      await assertOrder(harness, {
        replicas: [0, 1, 2].map(replica => replicaOfSet(`grouped-${replica}`)),
        // Each replica has a group, two gangs, a Service and five cliques.
        parents: 27,
        pods: 30,
        begin: () => harness.deleteSet('grouped'),
      })
    },
  },
]
