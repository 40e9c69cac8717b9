// SPDX-License-Identifier: Apache-2.0

// A workload that is applied and looked at until all of it is ready.
import type { PodCliqueSet } from '@grove/api'
import { isKubeError, type KubeObject } from '@grove/kube'
import { isAvailable, resources, type StoredSet } from '@grove/operator'
import { CommandError } from '../../command-error.ts'
import { readManifests } from '../../manifest.ts'
import { type ManifestObject, objectsOfDocument, placed } from '../../objects/manifest-objects.ts'
import { ServedKinds } from '../../objects/served-kinds.ts'
import { printLines } from '../../print.ts'
import { kindOf, setsAmong } from '../../set-manifest.ts'
import { terminal } from '../../terminal.ts'
import { LiveView } from '../../tree/live-view.ts'
import { paintFor, treeLines } from '../../tree/set-tree.ts'
import type { LocalCluster } from './local-cluster.ts'
import { workloadNamed } from './playground.ts'
import type { StopAsked } from './stop-asked.ts'

/** Long enough for the eye, short enough to see things happen. */
const redrawMs = 80
/** Something is wrong with the workload when it takes longer. */
const readyWithinMs = 120_000

export interface Demo {
  readonly path: string
  readonly sets: readonly PodCliqueSet[]
  /** Kinds that the workload brings along: they must be served before the operator starts. */
  readonly definitions: readonly KubeObject[]
  /** What stands beside the sets and is applied before them. */
  readonly others: readonly ManifestObject[]
  readonly configuration?: string
}

export interface Shown {
  readonly set: string
  readonly namespace: string
  readonly path: string
  /** A scaling group of it, to be scaled by the reader. */
  readonly group: { readonly name: string; readonly replicas: number } | undefined
  /** One that it runs on. */
  readonly node: string
}

/** A workload of the playground by its name, or of any file. */
export async function readDemo(word: string): Promise<Demo> {
  const workload = workloadNamed(word)
  const documents = await readManifests([workload.path])
  const sets = setsAmong(documents).map(({ value }) => value as PodCliqueSet)
  const others = documents.filter(document => kindOf(document) !== 'PodCliqueSet').flatMap(objectsOfDocument)
  const isDefinition = ({ kind }: ManifestObject) => kind === 'CustomResourceDefinition'
  return {
    ...workload,
    sets,
    definitions: others.filter(isDefinition).map(({ value }) => value),
    others: others.filter(object => !isDefinition(object)),
  }
}

/** Applies the sets and shows the first until it is available; undefined when it was stopped before. */
export async function showDemo(
  cluster: LocalCluster,
  { path, sets, others }: Demo,
  stop: StopAsked,
): Promise<Shown | undefined> {
  const kinds = await ServedKinds.of(cluster.client)
  for (const object of others) await applyBeside(cluster, object, kinds)
  for (const set of sets) await apply(cluster, set, path)
  const { name = '', namespace = 'default' } = sets[0]!.metadata
  const { stdout } = terminal()
  const view = new LiveView(stdout)
  const paint = paintFor(stdout)
  const started = Date.now()
  for (;;) {
    const set = cluster.operator.world.sets.get({ name, namespace }) as StoredSet | undefined
    const objects = set && objectsOf(cluster, set)
    const lines = objects ? treeLines(objects, { paint }) : []
    if (objects && isAvailable(set) && objects.cliques.every(isReady)) {
      view.end(lines)
      const [group] = objects.groups.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
      return {
        set: name,
        namespace,
        path,
        group: group && { name: group.metadata.name, replicas: group.spec.replicas },
        node: objects.pods.find(pod => pod.spec?.nodeName)?.spec?.nodeName ?? 'node-0',
      }
    }
    view.show(lines)
    if (stop.asked) return undefined
    if (Date.now() - started > readyWithinMs)
      throw new CommandError(
        `${name} was not ready within ${readyWithinMs / 1000} s; the tree above shows what it waits for`,
        1,
      )
    await new Promise(done => setTimeout(done, redrawMs))
  }
}

async function apply({ client }: LocalCluster, set: PodCliqueSet, path: string): Promise<void> {
  const metadata = { ...set.metadata, namespace: set.metadata.namespace ?? 'default' }
  try {
    await client.create(resources.podCliqueSets, { ...set, metadata })
  } catch (error) {
    // A cluster that was kept has it from last time.
    if (isKubeError(error, 'AlreadyExists'))
      printLines([`${metadata.name} is there already and stays as it is`])
    else if (isKubeError(error)) throw new CommandError(`${path}: ${error.message}`, 1)
    else throw error
  }
}

async function applyBeside(
  { client }: LocalCluster,
  object: ManifestObject,
  kinds: ServedKinds,
): Promise<void> {
  const { resource, value } = await placed(object, kinds, { namespace: 'default', isAsked: false })
  try {
    await client.create(resource, value)
  } catch (error) {
    if (isKubeError(error, 'AlreadyExists')) return
    if (isKubeError(error)) throw new CommandError(`${object.place}: ${error.message}`, 1)
    throw error
  }
}

function isReady(clique: {
  readonly spec: { readonly replicas: number }
  readonly status?: { readonly readyReplicas: number }
}): boolean {
  return (clique.status?.readyReplicas ?? 0) >= clique.spec.replicas
}

function objectsOf({ operator }: LocalCluster, set: StoredSet) {
  const { world } = operator
  const key = `${set.metadata.namespace}/${set.metadata.name}`
  const cliques = world.cliques.byIndex('set', key)
  return {
    set,
    groups: world.groups.byIndex('set', key),
    cliques,
    gangs: world.gangs.byIndex('controller', set.metadata.uid),
    pods: cliques.flatMap(clique => world.podsOf(clique)),
  }
}
