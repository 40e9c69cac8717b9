// SPDX-License-Identifier: Apache-2.0

// Baselines for the operator, written by simple loops. The ceiling writes plain pods. The floor writes the objects that
// every operator must write, and removes the gates when a gang is complete. The floor with statuses also writes the
// statuses that users read.
import { podSchedulingGate } from '@grove/api'
import { type Client, isKubeError, type KubeObject, mayBeCarriedOut, type Resource } from '@grove/kube'
import { type RenderedObject, resources } from '@grove/operator'
import type { Kubernetes } from '@grove/test-kubernetes'
import { Observer } from './observer.ts'
import {
  countBusyProcessors,
  countProcessorTime,
  type ProcessorTime,
  sumOf,
  untilIdle,
} from './processor-time.ts'
import { countAllocated } from './server-work.ts'
import { stopwatch } from './stopwatch.ts'
import { objectsOf, type Workload } from './workloads.ts'

const requestsAtOnce = 64

export interface Times {
  readonly created: number
  readonly ready: number
  readonly gone: number
  readonly writes: number
  /** Seconds until all pods were ready. */
  readonly processorTime: ProcessorTime
  /** Megabytes that the API server allocated until then. */
  readonly allocatedMB: number
  /** Processors that other processes used meanwhile. */
  readonly others: number
}

/** Creates plain pods and nothing else. */
export function ceiling(cluster: Kubernetes, client: Client, workload: Workload): Promise<Times> {
  return measure(cluster, client, workload, [resources.pods], async (namespace, wrote) => {
    const pods = objectsOf(workload, namespace).get('Pod') ?? []
    await inParallel(pods, async pod => {
      const { schedulingGates: _, ...spec } = pod.spec as Record<string, unknown>
      await client.create(resources.pods, { ...pod, spec } as never)
      wrote()
    })
  })
}

/**
 * Creates Services, scaling groups, cliques, gated pods and gangs, then removes the gates. Optionally writes one status
 * of each gang and clique.
 */
export function floor(
  cluster: Kubernetes,
  client: Client,
  workload: Workload,
  { statuses = false } = {},
): Promise<Times> {
  const kinds: Resource<KubeObject>[] = [
    resources.services,
    resources.podCliqueScalingGroups,
    resources.podCliques,
    resources.pods,
    resources.podGangs,
  ]
  return measure(cluster, client, workload, kinds, async (namespace, wrote) => {
    const objects = objectsOf(workload, namespace)
    for (const resource of kinds)
      await inParallel(objects.get(resource.kind) ?? [], async object => {
        await client.create(resource, object)
        wrote()
      })
    const writeStatuses = (resource: Resource<KubeObject>, statusOf: (object: RenderedObject) => object) =>
      inParallel(statuses ? (objects.get(resource.kind) ?? []) : [], async object => {
        const ref = { name: object.metadata.name, namespace }
        await client.patch(resource, ref, { merge: { status: statusOf(object) } }, { subresource: 'status' })
        wrote()
      })
    await writeStatuses(resources.podGangs, gangStatus)
    await inParallel(objects.get('Pod') ?? [], async ({ metadata }) => {
      await client.patch(
        resources.pods,
        { name: metadata.name, namespace },
        { strategic: { spec: { schedulingGates: [{ name: podSchedulingGate, $patch: 'delete' }] } } },
      )
      wrote()
    })
    await writeStatuses(resources.podCliques, cliqueStatus)
  })
}

function gangStatus(): object {
  return { phase: 'Pending', conditions: [condition('Initialized', 'True')] }
}

function cliqueStatus({ spec }: RenderedObject): object {
  const { replicas } = spec as { replicas: number }
  return {
    observedGeneration: 1,
    replicas,
    readyReplicas: replicas,
    scheduledReplicas: replicas,
    updatedReplicas: replicas,
    scheduleGatedReplicas: 0,
    conditions: [condition('MinAvailableBreached', 'False'), condition('PodCliqueScheduled', 'True')],
  }
}

function condition(type: string, status: string): object {
  return {
    type,
    status,
    reason: 'Benchmark',
    message: 'As many as an operator would have found',
    lastTransitionTime: new Date().toISOString(),
  }
}

async function measure(
  cluster: Kubernetes,
  client: Client,
  workload: Workload,
  collections: readonly Resource<KubeObject>[],
  write: (namespace: string, wrote: () => void) => Promise<void>,
): Promise<Times> {
  await untilIdle(cluster, client)
  const namespace = await cluster.newNamespace('bare')
  const observer = await new Observer(client, namespace).start()
  let writes = 0
  let created = 0
  const allocated = await countAllocated(client)
  const used = countProcessorTime(cluster)
  const busy = countBusyProcessors()
  const seconds = stopwatch()
  await Promise.all([
    write(namespace, () => writes++),
    observer.untilPods(workload.pods).then(() => {
      created = seconds()
    }),
  ])
  await observer.untilReady(workload.pods)
  const ready = seconds()
  const processorTime = used()
  const others = busy() - sumOf(processorTime) / ready
  const allocatedMB = await allocated()
  const sinceDeletion = stopwatch()
  await Promise.all(collections.map(resource => deleteAll(client, resource, namespace)))
  await observer.untilGone()
  const gone = sinceDeletion()
  observer.stop()
  return { created, ready, gone, writes, processorTime, allocatedMB, others }
}

/** An API server times out after a minute, before it has deleted thousands of pods. Then the request is repeated. */
async function deleteAll(client: Client, resource: Resource<KubeObject>, namespace: string): Promise<void> {
  for (;;)
    try {
      await client.deleteCollection(resource, { namespace })
      return
    } catch (error) {
      if (!isKubeError(error) || !mayBeCarriedOut(error)) throw error
    }
}

export async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  let next = 0
  await Promise.all(
    Array.from({ length: requestsAtOnce }, async () => {
      for (let at = next++; at < items.length; at = next++) await work(items[at]!)
    }),
  )
}
