// SPDX-License-Identifier: Apache-2.0

// The objects that a scheduler reads for a gang. They are looked at when what is wanted of them changes: fields that
// the scheduler owns are its business.
import { eventSource, events } from '@grove/api'
import { type Client, defineResource, isAlreadyExists, type KubeObject, type Resource } from '@grove/kube'
import type { SchedulerObject } from '../backends/backend.ts'
import { KaiMappingError } from '../backends/kai.ts'
import type { OperatorContext } from '../operator-context.ts'
import { mergePatch } from '../owned-fields.ts'
import type { StoredGang, StoredSet } from '../stored.ts'
import { topologyName } from '../topology.ts'

export class SchedulerObjects {
  readonly #context: OperatorContext
  /** What was last wanted of each gang, by its UID. */
  readonly #applied = new Map<string, string>()

  constructor(context: OperatorContext) {
    this.#context = context
  }

  async sync(set: StoredSet, gang: StoredGang, signal: AbortSignal): Promise<void> {
    const objects = this.#wanted(set, gang)
    const wanted = JSON.stringify(objects)
    if (objects.length === 0 || this.#applied.get(gang.metadata.uid) === wanted) return
    for (const object of objects) await apply(this.#context.world.client, object, signal)
    this.#applied.set(gang.metadata.uid, wanted)
  }

  forget(gangUid: string): void {
    this.#applied.delete(gangUid)
  }

  #wanted(set: StoredSet, gang: StoredGang): SchedulerObject[] {
    const { backends, world, events: sink } = this.#context
    const backend = backends.find(backends.nameFor(set)) ?? backends.default
    const name = topologyName(set)
    const binding = name ? world.topologyBindings.get({ name }) : undefined
    const entry = binding?.spec.schedulerTopologyBindings?.find(one => one.schedulerName === backend.name)
    try {
      return backend.objectsFor(gang, { set, ...(entry && { topologyReference: entry.topologyReference }) })
    } catch (error) {
      if (error instanceof KaiMappingError)
        sink.emit(gang, eventSource.schedulerBackend, events.kaiMappingFailed(error.message))
      throw error
    }
  }
}

/** Creates the object, or brings our fields of it up to date. A queue that it has stays: moving it is not ours. */
async function apply(client: Client, object: SchedulerObject, signal: AbortSignal): Promise<void> {
  const resource = resourceOf(object)
  const { name, namespace = '' } = object.metadata
  const existing = await client.find(resource, { name, namespace }, { signal })
  if (!existing) {
    try {
      await client.create(resource, object as unknown as WithSpec, { signal })
      return
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
  }
  const patch = differenceFrom(existing as WithSpec | undefined, object)
  if (patch) await client.patch(resource, { name, namespace }, { merge: patch }, { signal })
}

type WithSpec = KubeObject & { readonly spec?: Readonly<Record<string, unknown>> }

function differenceFrom(existing: WithSpec | undefined, wanted: SchedulerObject): object | undefined {
  const spec = { ...(wanted.spec as Record<string, unknown>) }
  const before = Object.fromEntries(Object.keys(spec).map(key => [key, existing?.spec?.[key]]))
  if (existing?.spec?.queue) spec.queue = existing.spec.queue
  const difference = mergePatch(before, spec)
  const metadata = ['labels', 'annotations'].flatMap(member => {
    const have = existing?.metadata?.[member as 'labels'] ?? {}
    const want = (wanted.metadata[member] ?? {}) as Record<string, string>
    const missing = Object.entries(want).filter(([key, value]) => have[key] !== value)
    return missing.length ? [[member, Object.fromEntries(missing)] as const] : []
  })
  if (!difference && metadata.length === 0) return undefined
  return {
    ...(metadata.length && { metadata: Object.fromEntries(metadata) }),
    ...(difference && { spec: difference }),
  }
}

function resourceOf({ apiVersion, kind }: SchedulerObject): Resource<WithSpec> {
  const [group = '', version = ''] = apiVersion.split('/')
  return defineResource<WithSpec>({
    group,
    version,
    kind,
    resource: `${kind.toLowerCase()}s`,
    namespaced: true,
  })
}
