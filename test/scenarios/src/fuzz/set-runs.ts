// SPDX-License-Identifier: Apache-2.0

// Creates, disturbs and deletes thousands of sets on a cluster with an operator process. Every set must be deleted
// completely, and ordinary sets in another namespace must become available meanwhile.
import { setTimeout as sleep } from 'node:timers/promises'
import { annotation, label, type PodCliqueSet } from '@grove/api'
import { type Client, KubeError, type KubeObject, type Resource, type Stored, setScale } from '@grove/kube'
import { resources } from '@grove/operator'
import fc from 'fast-check'
import { sets } from '../random-sets/sets.ts'
import { seeded } from '../seeded.ts'
import { hostileSets } from './hostile-sets.ts'
import { type Below, mutated, strangeText, strangeValue } from './mutation.ts'

export interface SetReport {
  /** Number of sets that were accepted, disturbed and deleted. */
  lived: number
  rejected: number
  disturbances: number
  /** Number of ordinary sets that became available meanwhile. */
  ordinary: number
  slowestOrdinaryMs: number
  readonly failures: string[]
}

export interface SetRunOptions {
  readonly client: Client
  readonly seed: number
  /** Index of the first set, and the one after the last. */
  readonly from: number
  readonly to: number
  readonly inFlight: number
  readonly namespaces: readonly string[]
  /** Namespace of the ordinary sets. */
  readonly quietNamespace: string
  readonly deadline: number
  readonly progress: (line: string) => void
  /** Rejects if the operator exits. */
  readonly ended: AbortSignal
}

const sampledSets = 300
const ordinaryEvery = 50
const pollIntervalMs = 250
/** The time within which the operator must observe a set, make it available, or delete it, on a busy machine. */
const patienceMs = 120_000
const mostFailures = 20
const progressEvery = 200
/**
 * Counts that a typo or an autoscaler may write. Values in between are left out, because the operator would create
 * their pods.
 */
const scales = [0, 1, 2, 3, -1, 1_000_001, 2_000_000, 200_000_000, 2_147_483_647]
const disturbed = [
  resources.podCliqueSets,
  resources.podCliques,
  resources.podCliqueScalingGroups,
  resources.podGangs,
  resources.pods,
] as readonly Resource<KubeObject>[]

export function emptySetReport(): SetReport {
  return { lived: 0, rejected: 0, disturbances: 0, ordinary: 0, slowestOrdinaryMs: 0, failures: [] }
}

/** Adds its results to the report. */
export async function runSets(options: SetRunOptions, report: SetReport): Promise<void> {
  const valid = fc.sample(sets, { seed: options.seed, numRuns: sampledSets })
  let next = options.from
  const hasMore = () =>
    next < options.to &&
    Date.now() < options.deadline &&
    !options.ended.aborted &&
    report.failures.length < mostFailures
  const worker = async () => {
    while (hasMore()) {
      const index = next++
      try {
        if (index % ordinaryEvery === 0) await ordinarySet(options, index, report)
        await new SetRun(options, index, valid, report).run()
        if (report.lived % progressEvery === 0) options.progress(`${report.lived} sets`)
      } catch (error) {
        if (options.ended.aborted) return
        report.failures.push(`set ${index}: ${error instanceof Error ? error.message : String(error)}`)
      }
    }
  }
  await Promise.all(Array.from({ length: options.inFlight }, worker))
}

class SetRun {
  readonly #client: Client
  readonly #options: SetRunOptions
  readonly #report: SetReport
  readonly #below: Below
  readonly #valid: readonly PodCliqueSet[]
  readonly #ref: { name: string; namespace: string }

  constructor(options: SetRunOptions, index: number, valid: readonly PodCliqueSet[], report: SetReport) {
    this.#client = options.client
    this.#options = options
    this.#report = report
    this.#valid = valid
    this.#below = seeded(options.seed * 104_729 + index)
    const namespace = options.namespaces[index % options.namespaces.length] ?? ''
    this.#ref = { name: `s${index}`, namespace }
  }

  async run(): Promise<void> {
    await this.#create()
    await until('the operator to notice the set', this.#options, async () => {
      const set = await this.#client.find(resources.podCliqueSets, this.#ref)
      return !set || set.status?.observedGeneration !== undefined || (set.status?.lastErrors?.length ?? 0) > 0
    })
    for (let left = 1 + this.#below(4); left > 0; left--) await this.#disturb()
    await this.#delete()
    this.#report.lived++
  }

  /** A generated, mutated or hostile set. If it is rejected, the run uses the set from which it was generated. */
  async #create(): Promise<void> {
    const base = this.#valid[this.#below(this.#valid.length)]
    const choice = this.#below(8)
    const hostile = Object.values(hostileSets)
    const wild =
      choice < 3
        ? mutated(base, this.#below, 1 + this.#below(3))
        : choice === 3
          ? hostile[this.#below(hostile.length)]?.(10 + this.#below(20))
          : undefined
    if (wild !== undefined && (await this.#post(wild))) return
    if (!(await this.#post(base))) throw new Error('a valid set was rejected')
  }

  async #post(set: unknown): Promise<boolean> {
    const { namespace, name } = this.#ref
    const body = structuredClone(set) as { metadata?: Record<string, unknown> } | null
    if (typeof body?.metadata === 'object' && body.metadata !== null) body.metadata.name = name
    try {
      await this.#client.raw({
        verb: 'create',
        method: 'POST',
        path: `/apis/grove.io/v1alpha1/namespaces/${namespace}/podcliquesets`,
        body,
        contentType: 'application/json',
      })
      return true
    } catch (error) {
      if (!isRejection(error)) throw error
      this.#report.rejected++
      return false
    }
  }

  async #disturb(): Promise<void> {
    this.#report.disturbances++
    try {
      const resource = disturbed[this.#below(disturbed.length)] ?? resources.podCliqueSets
      const target = await this.#pick(resource as Resource<KubeObject>)
      if (target) await this.#act(resource as Resource<KubeObject>, target)
    } catch (error) {
      // Rejected by the schema or by admission, deleted, or changed meanwhile.
      if (!isRejection(error)) throw error
    }
  }

  async #pick(resource: Resource<KubeObject>): Promise<Stored<KubeObject> | undefined> {
    const { name, namespace } = this.#ref
    if (resource === (resources.podCliqueSets as Resource<KubeObject>))
      return this.#client.find(resource, this.#ref)
    const { items } = await this.#client.list(resource, {
      namespace,
      labelSelector: `${label.partOf}=${name}`,
    })
    return items[this.#below(Math.max(items.length, 1))]
  }

  async #act(resource: Resource<KubeObject>, object: Stored<KubeObject>): Promise<void> {
    const below = this.#below
    const ref = { name: object.metadata.name, namespace: this.#ref.namespace }
    const merge = (patch: object, subresource?: 'status') =>
      this.#client.patch(resource, ref, { merge: patch }, subresource ? { subresource } : {})
    switch (below(7)) {
      case 0:
      case 1:
        if (resource.resource.startsWith('podclique'))
          await setScale(this.#client, resource, ref, scales[below(scales.length)] ?? 0)
        return
      case 2:
        await merge({ metadata: { annotations: { [anyAnnotation(below)]: strangeText(below) } } })
        return
      case 3:
        await merge({ metadata: { labels: { [anyLabel(below)]: below(3) ? strangeText(below) : null } } })
        return
      case 4: {
        const status = (object as { status?: object }).status ?? {}
        await merge({ status: mutated(status, below, 1 + below(3)) }, 'status')
        return
      }
      case 5: {
        const spec = (object as { spec?: object }).spec ?? {}
        await merge({ spec: mutated(spec, below, 1) })
        return
      }
      default:
        if (resource !== (resources.podCliqueSets as Resource<KubeObject>))
          await this.#client.delete(resource, ref)
        else
          await merge({
            metadata: { finalizers: below(2) ? [] : null, [strangeText(below)]: strangeValue(below) },
          })
    }
  }

  async #delete(): Promise<void> {
    const { name, namespace } = this.#ref
    await this.#client.delete(resources.podCliqueSets, this.#ref).catch(error => {
      if (!isRejection(error)) throw error
    })
    await until('the set to be deleted', this.#options, async () => {
      const set = await this.#client.find(resources.podCliqueSets, this.#ref)
      if (set && !set.metadata.deletionTimestamp)
        await this.#client.delete(resources.podCliqueSets, this.#ref)
      return set === undefined
    })
    await until('its pods to be deleted', this.#options, async () => {
      const { items } = await this.#client.list(resources.pods, {
        namespace,
        labelSelector: `${label.managedBy}=grove-operator,${label.partOf}=${name}`,
      })
      return items.length === 0
    })
  }
}

/** An ordinary set in a namespace without disturbances. */
async function ordinarySet(options: SetRunOptions, index: number, report: SetReport): Promise<void> {
  const { client, quietNamespace: namespace } = options
  const ref = { name: `ordinary-${index}`, namespace }
  const started = performance.now()
  await client.create(resources.podCliqueSets, {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueSet',
    metadata: ref,
    spec: {
      replicas: 1,
      template: {
        cliques: ['lead', 'work'].map(name => ({
          name,
          spec: {
            roleName: name,
            replicas: 2,
            podSpec: { containers: [{ name: 'main', image: 'engine:1' }] },
          },
        })),
      },
    },
  } as PodCliqueSet)
  await until(`the ordinary set ${ref.name} to be available`, options, async () => {
    const set = await client.find(resources.podCliqueSets, ref)
    return set !== undefined && (set.status?.availableReplicas ?? 0) === 1
  })
  report.ordinary++
  report.slowestOrdinaryMs = Math.max(report.slowestOrdinaryMs, performance.now() - started)
  await client.delete(resources.podCliqueSets, ref)
}

const annotationNames = Object.values(annotation)
const labelNames = Object.values(label)

function anyAnnotation(below: Below): string {
  return annotationNames[below(annotationNames.length)] ?? 'example.com/note'
}

function anyLabel(below: Below): string {
  return labelNames[below(labelNames.length)] ?? 'example.com/team'
}

/** Reports whether the API server or admission rejected the request, which is not an error of the operator. */
function isRejection(error: unknown): boolean {
  return error instanceof KubeError && error.status !== undefined && error.status >= 400 && error.status < 500
}

async function until(what: string, options: SetRunOptions, check: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + patienceMs
  while (!(await check())) {
    options.ended.throwIfAborted()
    if (Date.now() > end) throw new Error(`waited ${patienceMs / 1000} s for ${what}`)
    await sleep(pollIntervalMs)
  }
}
