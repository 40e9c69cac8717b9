// SPDX-License-Identifier: Apache-2.0

// Prints all objects of a set, one line each, with the fields that other components rely on. A scenario lists the
// expected lines after each step, and the objects that the step recreates.
import assert from 'node:assert/strict'
import { label, type Pod, type PodClique, type PodGang } from '@grove/api'
import type { KubeObject, Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import { type Harness, isReady } from './harness.ts'

interface Look {
  readonly lines: readonly string[]
  /** UIDs by kind and name; pods by their hostname. */
  readonly uids: ReadonlyMap<string, string>
}

export class SetTree {
  readonly #harness: Harness
  readonly #set: string
  #before: ReadonlyMap<string, string> = new Map()

  constructor(harness: Harness, set: string) {
    this.#harness = harness
    this.#set = set
  }

  /**
   * Waits until the set consists of exactly these lines, in any order. Objects that existed at the last call must be
   * the same objects now, except those listed as `recreated`.
   */
  async until(what: string, lines: readonly string[], recreated: readonly string[] = []): Promise<void> {
    const wanted = lines.toSorted()
    let seen: Look = { lines: [], uids: new Map() }
    const look = async () => {
      seen = await this.#look()
      return seen.lines.join('\n')
    }
    try {
      await this.#harness.until(what, look, text => text === wanted.join('\n'))
    } catch (error) {
      // Shows the difference line by line.
      assert.deepEqual(seen.lines, wanted, what)
      throw error
    }
    const changed = [...seen.uids].filter(([key, uid]) => (this.#before.get(key) ?? uid) !== uid)
    assert.deepEqual(changed.map(([key]) => key).sort(), recreated.toSorted(), `${what}: recreated`)
    this.#before = seen.uids
  }

  async #look(): Promise<Look> {
    const harness = this.#harness
    const name = this.#set
    const [set, groups, cliques, gangs, pods, services, autoscalers, claims] = await Promise.all([
      harness.set(name),
      harness.groups(name),
      harness.cliques(name),
      harness.gangs(name),
      harness.pods(name),
      harness.list(resources.services, name),
      harness.list(resources.autoscalers, name),
      harness.list(resources.resourceClaims, name),
    ])
    const lines = [
      `set ${name}: ${set?.spec.replicas} wanted, ${set?.status?.availableReplicas} available, ${set?.status?.updatedReplicas} updated`,
      ...groups.map(
        ({ metadata, spec, status }) =>
          `group ${metadata.name}: ${spec.replicas} wanted, ${status?.availableReplicas} available, ${status?.updatedReplicas} updated`,
      ),
      ...cliques.map(cliqueLine),
      ...gangs.map(gang => gangLine(gang, pods, cliques)),
      ...services.map(({ metadata }) => `service ${metadata.name}`),
      ...autoscalers.map(
        ({ metadata, spec }) => `autoscaler ${metadata.name}: ${spec.minReplicas} to ${spec.maxReplicas}`,
      ),
      ...claims.map(claimLine),
      ...pods.filter(pod => pod.metadata.deletionTimestamp).map(pod => `leaving ${pod.metadata.name}`),
    ]
    const named: Stored<KubeObject>[] = [
      ...groups,
      ...cliques,
      ...gangs,
      ...services,
      ...autoscalers,
      ...claims,
    ]
    const uids = new Map([
      ...named.map(({ kind, metadata }): [string, string] => [`${kind} ${metadata.name}`, metadata.uid]),
      ...pods.map(({ metadata, spec }): [string, string] => [`Pod ${spec?.hostname}`, metadata.uid]),
    ])
    return { lines: lines.sort(), uids }
  }
}

function cliqueLine({ metadata, spec, status }: Stored<PodClique>): string {
  const after = spec.startsAfter?.length ? `, after ${spec.startsAfter.join(' ')}` : ''
  return `clique ${metadata.name}: ${status?.readyReplicas} of ${spec.replicas} ready, ${status?.updatedReplicas} updated, gang ${metadata.labels?.[label.podGang]}${after}`
}

/** Lists the pods of a gang by their index. A star marks an outdated pod, an exclamation mark one that is not ready. */
function gangLine(
  { metadata, spec }: Stored<PodGang>,
  pods: readonly Stored<Pod>[],
  cliques: readonly Stored<PodClique>[],
): string {
  const groups = spec.podgroups.map(({ name, minReplicas, podReferences }) => {
    const hash = cliques.find(clique => clique.metadata.name === name)?.metadata.labels?.[
      label.podTemplateHash
    ]
    const indexes = podReferences.map(reference => {
      const pod = pods.find(one => one.metadata.name === reference.name)
      if (!pod) return 'no pod'
      const { labels } = pod.metadata
      return `${labels?.[label.podIndex]}${labels?.[label.podTemplateHash] === hash ? '' : '*'}${isReady(pod) ? '' : '!'}`
    })
    return `${name} ${minReplicas} of ${indexes.sort().join(' ')}`
  })
  return `gang ${metadata.name}: ${groups.join(', ')}`
}

function claimLine({ metadata }: Stored<KubeObject>): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller)
  return `claim ${metadata.name} of ${owner?.kind} ${owner?.name}`
}
