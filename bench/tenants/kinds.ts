// SPDX-License-Identifier: Apache-2.0

// The kinds that a hostile tenant uses: those of the operator, or copies of them in another API group. Copies have
// the same schema, but no webhook and no controller, so the tenant's children are written by a plain loop.
import { customResourceDefinitions, label, type PodCliqueSet } from '@grove/api'
import { type Client, defineResource, KubeError, type KubeObject, type Resource } from '@grove/kube'
import { type RenderedObject, resources } from '@grove/operator'
import { failAnnotation, type Kubernetes } from '@grove/test-kubernetes'
import { inParallel } from '../scale/bare-loop.ts'
import { pause } from '../scale/stopwatch.ts'
import { objectsOfSet } from '../scale/workloads.ts'

export interface HostileKinds {
  readonly sets: Resource<KubeObject>
  readonly groups: Resource<KubeObject>
  readonly cliques: Resource<KubeObject>
  /** Creates a set. Its children follow. */
  create(set: PodCliqueSet): Promise<void>
  /** Stops writing children. */
  idle(): Promise<void>
}

export function ownKinds(client: Client): HostileKinds {
  return {
    sets: resources.podCliqueSets,
    groups: resources.podCliqueScalingGroups,
    cliques: resources.podCliques,
    create: async set => {
      await client.create(resources.podCliqueSets, set)
    },
    idle: async () => undefined,
  }
}

const copiesGroup = 'copies.example.com'
/** A clique with failing pods gets as many new pods as the back-off of the operator allows within a round. */
const replacements = 4
const replacedEveryMs = 4_000
/** Creations of one kind end after this many rejections, like those of the operator. */
const mostRejections = 8

/** Creates the definitions of the copies. */
export async function copiedKinds(kubernetes: Kubernetes, client: Client): Promise<HostileKinds> {
  await kubernetes.apply(
    customResourceDefinitions.map(definition => ({
      ...definition,
      metadata: { name: `${definition.spec.names.plural}.${copiesGroup}` },
      spec: { ...definition.spec, group: copiesGroup },
    })),
  )
  return new CopiedKinds(client)
}

class CopiedKinds implements HostileKinds {
  readonly sets = copyOf(resources.podCliqueSets)
  readonly groups = copyOf(resources.podCliqueScalingGroups)
  readonly cliques = copyOf(resources.podCliques)
  readonly #gangs = copyOf(resources.podGangs)
  readonly #client: Client
  readonly #writing: Promise<void>[] = []
  #stopped = false

  constructor(client: Client) {
    this.#client = client
  }

  async create(set: PodCliqueSet): Promise<void> {
    this.#stopped = false
    await this.#client.create(this.sets, { ...set, apiVersion: `${copiesGroup}/v1alpha1` })
    this.#writing.push(this.#createChildren(set))
  }

  async idle(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#writing.splice(0))
  }

  async #createChildren(set: PodCliqueSet): Promise<void> {
    // Without its claims, the operator creates no children of such a set.
    if (set.spec.template.cliques.some(clique => 'resourceSharing' in clique)) return
    const objects = objectsOfSet(set)
    const of = ({ kind }: Resource<KubeObject>) => objects.get(kind) ?? []
    for (const resource of [resources.services, this.groups]) await this.#createAll(resource, of(resource))
    const cliques = await this.#createAll(this.cliques, of(this.cliques))
    // Gangs wait for all of their cliques, and pods for their clique.
    if (cliques.size === of(this.cliques).length) await this.#createAll(this.#gangs, of(this.#gangs))
    const pods = of(resources.pods)
      .filter(({ metadata }: KubeObject) => cliques.has(metadata?.labels?.[label.podClique] ?? ''))
      .map(plain)
    await this.#createAll(resources.pods, pods)
    const failing = pods.filter(({ metadata }: KubeObject) => failAnnotation in (metadata?.annotations ?? {}))
    for (let each = 1; each <= replacements && failing.length && !this.#stopped; each++) {
      await pause(replacedEveryMs)
      await this.#createAll(
        resources.pods,
        failing.map(pod => ({ ...pod, metadata: { ...pod.metadata, name: `${pod.metadata.name}-${each}` } })),
      )
    }
  }

  /** Returns the names of the objects that were created. */
  async #createAll(
    resource: Resource<KubeObject>,
    objects: readonly RenderedObject[],
  ): Promise<ReadonlySet<string>> {
    const created = new Set<string>()
    let rejections = 0
    await inParallel(objects, async object => {
      if (rejections >= mostRejections || this.#stopped) return
      try {
        await this.#client.create(resource, unlabelled(resource, object))
        created.add(object.metadata.name)
      } catch (error) {
        if (!(error instanceof KubeError)) throw error
        rejections++
      }
    })
    return created
  }
}

function copyOf(resource: Resource<KubeObject>): Resource<KubeObject> {
  return defineResource({ ...resource, group: copiesGroup })
}

/** A pod that starts at once: without gates, and without the ServiceAccount and the init container of its set. */
function plain(pod: RenderedObject): RenderedObject {
  const { containers, restartPolicy } = pod.spec as Record<string, unknown>
  return { ...pod, spec: { containers, restartPolicy } }
}

/** Without the labels by which the operator watches objects. */
function unlabelled({ group, version }: Resource<KubeObject>, object: RenderedObject): KubeObject {
  const { labels: _, ...metadata } = object.metadata as KubeObject['metadata'] & { labels?: unknown }
  return { ...object, apiVersion: group ? `${group}/${version}` : version, metadata } as KubeObject
}
