// SPDX-License-Identifier: Apache-2.0

// Compares what `grove plan` says from a dump of a cluster with what the gang scheduler does on that cluster.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { label, type Pod } from '@grove/api'
import type { Client, Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import { type GangDecision, schedulerResources } from '@grove/scheduler'
import fc from 'fast-check'
import { call } from './grove-call.ts'
import { fabric, gpuSet, type PlacementFiles, type SetOptions } from './placement-files.ts'

const namespace = 'default'

export interface PlannedOnCluster {
  readonly client: Client
  readonly kubeconfig: string
  readonly files: PlacementFiles
  readonly patienceMs: number
}

/** Sets for eight nodes with eight GPUs each, about a third of which do not fit as a whole. */
export function randomSets(count: number): SetOptions[] {
  const level = fc.constantFrom(undefined, 'zone', 'rack')
  return fc.sample(
    fc
      .record({
        replicas: fc.integer({ min: 1, max: 2 }),
        required: level,
        preferred: level,
        workers: fc.integer({ min: 1, max: 4 }),
        spare: fc.constantFrom(0, 0, 1),
        gpus: fc.constantFrom(1, 2, 3, 4, 8),
        scaled: fc.constantFrom(0, 0, 2, 3),
      })
      .map(({ spare, required, preferred, ...rest }) => ({
        ...rest,
        name: 'random',
        minAvailable: Math.max(1, rest.workers - spare),
        ...(required && { required }),
        // A preferred level must be narrower than the required one.
        ...(preferred && preferred !== required && required !== 'rack' && { preferred }),
      })),
    { numRuns: count, seed: 1 },
  )
}

/** Polls until the result is defined. */
export async function until<T>(
  what: string,
  patienceMs: number,
  ask: () => Promise<T | undefined>,
): Promise<T> {
  const end = Date.now() + patienceMs
  for (;;) {
    const found = await ask()
    if (found !== undefined) return found
    if (Date.now() > end) assert.fail(`timed out: ${what}`)
    await sleep(50)
  }
}

export async function allPods(client: Client): Promise<Stored<Pod>[]> {
  return (await client.list(resources.pods, {})).items as Stored<Pod>[]
}

/** Nodes, pods, PodGangs and topology in the form of `kubectl get -o json`. Returns the path of the file. */
export async function dump({ client, files }: PlannedOnCluster): Promise<string> {
  const items = [
    ...(await client.list(resources.podGangs, { namespace })).items.map(object => ({
      ...object,
      apiVersion: 'scheduler.grove.io/v1alpha1',
      kind: 'PodGang',
    })),
    ...(await client.list(schedulerResources.nodes)).items.map(object => ({
      ...object,
      apiVersion: 'v1',
      kind: 'Node',
    })),
    ...(await allPods(client)).map(object => ({ ...object, apiVersion: 'v1', kind: 'Pod' })),
    fabric,
  ]
  return files.write('dump.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
}

export async function planSets(...args: string[]): Promise<{ status: number | null; gangs: GangDecision[] }> {
  const { status, stdout, stderr } = await call(['plan', ...args, '-o', 'json'])
  assert.notEqual(stdout, '', stderr)
  return { status, gangs: JSON.parse(stdout).gangs as GangDecision[] }
}

export async function applySet({ files, kubeconfig }: PlannedOnCluster, set: object): Promise<void> {
  const path = files.write('applied.json', [set])
  const { status, stderr } = await call(['apply', '-f', path, '--kubeconfig', kubeconfig])
  assert.equal(status, 0, stderr)
}

export async function deleteSets(cluster: PlannedOnCluster, names: readonly string[]): Promise<void> {
  const { client, patienceMs } = cluster
  await Promise.all(names.map(name => client.delete(resources.podCliqueSets, { name, namespace })))
  await until(`${names.join(', ')} are gone`, patienceMs, async () => {
    const sets = (await client.list(resources.podCliqueSets, { namespace })).items
    return sets.length === 0 && (await allPods(client)).length === 0 ? true : undefined
  })
}

export interface Prediction {
  readonly title: string
  readonly set: string
  /** The condition Scheduled of each gang. */
  readonly verdicts: readonly (readonly [gang: string, status: string])[]
  /** Hostname and node of each pod. */
  readonly placements: readonly string[]
}

/** Plans the set on the nodes of a dump. */
export async function predict(
  { files }: PlannedOnCluster,
  options: SetOptions,
  nodes: string,
): Promise<Prediction> {
  const { gangs } = await planSets('-f', files.write('random.json', [gpuSet(options)]), '--nodes', nodes)
  return predictionFrom(JSON.stringify(options), options.name ?? '', gangs)
}

/** Plans the waiting gangs of the cluster as they were created, and returns a prediction for each set. */
export async function predictWaiting(
  cluster: PlannedOnCluster,
  predictions: readonly Prediction[],
): Promise<Prediction[]> {
  const { gangs } = await planSets('--pending', '--nodes', await dump(cluster))
  const hostnames = new Map(
    (await allPods(cluster.client)).map(({ metadata, spec }) => [metadata.name, spec.hostname ?? '']),
  )
  return predictions.map(({ title, set }) =>
    predictionFrom(
      `as created: ${title}`,
      set,
      gangs.filter(gang => gang.podCliqueSet === set),
      name => hostnames.get(name) ?? name,
    ),
  )
}

function predictionFrom(
  title: string,
  set: string,
  gangs: readonly GangDecision[],
  hostname = (name: string) => name,
): Prediction {
  return {
    title,
    set,
    verdicts: gangs.map(({ name, verdict }) => [name, verdict === 'Scheduled' ? 'True' : 'False']),
    placements: gangs
      .flatMap(gang => gang.pods.flatMap(({ name, node }) => (node ? [`${hostname(name)} ${node}`] : [])))
      .sort(),
  }
}

/**
 * Reports whether all gangs of the set are of the same age. A plan from manifests assumes it. Times have a resolution
 * of one second, so gangs that are created around the end of a second differ, and the older ones come first.
 */
export async function areSameAge({ client }: PlannedOnCluster, { verdicts }: Prediction): Promise<boolean> {
  const gangs = await Promise.all(
    verdicts.map(([name]) => client.get(resources.podGangs, { name, namespace })),
  )
  return new Set(gangs.map(({ metadata }) => metadata.creationTimestamp)).size <= 1
}

/** Waits until the operator has created the gangs of the set with all of their pods. */
export async function untilComplete(
  cluster: PlannedOnCluster,
  { title, verdicts }: Prediction,
): Promise<void> {
  const wanted = verdicts.map(([name]) => [name, 'True'])
  await until(`the gangs are complete: ${title}`, cluster.patienceMs, async () =>
    isDeepStrictEqual(await conditions(cluster.client, verdicts, 'Initialized'), wanted) ? true : undefined,
  )
}

/** Waits until the scheduler has decided as predicted, and compares the nodes of the pods. */
export async function assertPredicted(
  { client, patienceMs }: PlannedOnCluster,
  { title, set, verdicts, placements }: Prediction,
): Promise<void> {
  // The scheduler writes the verdict of a gang after it has bound its minimum.
  await until(`the scheduler decides ${JSON.stringify(verdicts)}: ${title}`, patienceMs, async () =>
    isDeepStrictEqual(await conditions(client, verdicts, 'Scheduled'), verdicts) ? true : undefined,
  )
  const bound = await until(`${placements.length} pods on nodes: ${title}`, patienceMs, async () => {
    const labelSelector = `${label.partOf}=${set}`
    const { items } = await client.list(resources.pods, { namespace, labelSelector })
    const found = (items as Stored<Pod>[]).filter(({ spec }) => spec.nodeName)
    return found.length >= placements.length ? found : undefined
  })
  assert.deepEqual(bound.map(({ spec }) => `${spec.hostname} ${spec.nodeName}`).sort(), placements, title)
}

function conditions(client: Client, gangs: Prediction['verdicts'], type: string): Promise<unknown> {
  return Promise.all(
    gangs.map(async ([name]) => {
      const gang = await client.find(resources.podGangs, { name, namespace })
      return [name, gang?.status?.conditions?.find(condition => condition.type === type)?.status]
    }),
  )
}
