// SPDX-License-Identifier: Apache-2.0

// Syncs the objects that a scheduler reads for a gang. Fields that the scheduler owns stay unchanged.
import { eventSource, kinds } from '@grove/api'
import { isNotFound, type Resource, type Stored } from '@grove/kube'
import { executeOrThrow } from '../apply/execute.ts'
import type { Create, MergePatch } from '../apply/intent.ts'
import { mergePatch } from '../apply/owned-fields.ts'
import { schedulerObjectKinds } from '../caches/resources.ts'
import { gangErrors } from '../errors/catalogue.ts'
import { controlledBy, hasLabelsOfSameSet } from '../layout/owner.ts'
import type { StoredGang } from '../layout/stored.ts'
import { topologyName, topologyReference } from '../layout/topology.ts'
import type { OperatorContext } from '../operator-context.ts'
import { GangMappingError, type SchedulerBackend, type SchedulerObject } from '../schedulers/backend.ts'
import type { GangSnapshot } from './observe.ts'

export async function syncSchedulerObjects(
  { set, instance, backend }: Pick<GangSnapshot, 'set' | 'instance' | 'backend'>,
  gang: StoredGang,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const intents = await Promise.all(
    wantedObjects(backend, { set, instance }, gang, context).map(object =>
      intentOf(gang, object, backend, context, signal),
    ),
  )
  await executeOrThrow(intents, context, signal)
}

function wantedObjects(
  backend: SchedulerBackend,
  { set, instance }: Pick<GangSnapshot, 'set' | 'instance'>,
  gang: StoredGang,
  { caches, events: sink }: OperatorContext,
): SchedulerObject[] {
  const name = topologyName(set)
  const binding = name ? caches.topologyBindings.get({ name }) : undefined
  try {
    const reference = topologyReference(binding, backend.name)
    return backend.objectsFor(gang, { set, instance, topologyReference: reference })
  } catch (error) {
    if (error instanceof GangMappingError && backend.mappingFailed)
      sink.emit(gang, eventSource.schedulerBackend, backend.mappingFailed(error.message))
    throw error
  }
}

/**
 * Creates the object, or patches the fields that the operator owns. Reports an object of another owner, and never
 * patches it.
 */
async function intentOf(
  gang: StoredGang,
  object: SchedulerObject,
  backend: SchedulerBackend,
  { caches }: OperatorContext,
  signal: AbortSignal,
): Promise<Create<SchedulerObject>> {
  const { apiVersion, kind } = object
  const { name, namespace = '' } = object.metadata
  const id = `${namespace}/${name}`
  const resource = resourceOf(object)
  const cache = caches.schedulerObjects(resource)
  const failed = (cause: unknown) =>
    isNotFound(cause) && !cache
      ? gangErrors.kindNotServed(kind, apiVersion, id)(cause)
      : gangErrors.writeSchedulerObject(kind, id, apiVersion)(cause)
  let known: Stored<SchedulerObject> | undefined
  try {
    // Without a cache, the cluster did not serve the kind at discovery. It may serve it by now.
    known = cache
      ? cache.get({ name, namespace })
      : await caches.client.find(resource, { name, namespace }, { signal })
  } catch (error) {
    throw failed(error)
  }
  return {
    kind: 'create',
    resource,
    object,
    ...(known && { known }),
    error: failed,
    existing: {
      ownerUid: gang.metadata.uid,
      repair: existing => differenceFrom(existing, object, backend),
      adopt: existing => adoption(gang, existing, object, backend),
      conflict: gangErrors.foreignSchedulerObject(kind, id, apiVersion),
    },
  }
}

/**
 * Makes the gang the controller of an object that has no controller and carries the operator's labels. Does the same
 * for an object of a deleted gang of this name: that gang is gone, because the name is in use again. Returns undefined
 * for any other object.
 */
function adoption(
  gang: StoredGang,
  existing: Stored<SchedulerObject>,
  wanted: SchedulerObject,
  backend: SchedulerBackend,
): MergePatch | undefined {
  const { ownerReferences = [], resourceVersion } = existing.metadata
  const controller = ownerReferences.find(owner => owner.controller)
  const isOrphan = !controller && hasLabelsOfSameSet(existing, gang)
  const isOfFormer = controller?.kind === kinds.podGang.kind && controller.name === gang.metadata.name
  if (!isOrphan && !isOfFormer) return undefined
  // The scheduler assigned the former gang to its queue, not this one.
  const kept = isOfFormer ? { ...backend, keepsInSpec: [], keepsLabels: [] } : backend
  const difference = differenceFrom(existing, wanted, kept)
  const others = ownerReferences.filter(owner => owner !== controller)
  const adopted = { resourceVersion, ownerReferences: [...others, ...controlledBy(gang)] }
  return { ...difference, metadata: { ...difference?.metadata, ...adopted } }
}

interface Difference extends MergePatch {
  readonly metadata?: object
  readonly spec?: unknown
}

function differenceFrom(
  existing: SchedulerObject,
  wanted: SchedulerObject,
  { keepsInSpec = [], immutableInSpec = [], keepsLabels = [] }: SchedulerBackend,
): Difference | undefined {
  const spec: Record<string, unknown> = { ...wanted.spec }
  for (const member of immutableInSpec) delete spec[member]
  const before = Object.fromEntries(Object.keys(spec).map(key => [key, existing.spec?.[key]]))
  for (const member of keepsInSpec) if (existing.spec?.[member]) spec[member] = existing.spec[member]
  const difference = mergePatch(before, spec)
  const metadata = (['labels', 'annotations'] as const).flatMap(member => {
    const have = existing.metadata[member] ?? {}
    const isKept = (key: string) => member === 'labels' && keepsLabels.includes(key) && have[key]
    const missing = Object.entries(wanted.metadata[member] ?? {}).filter(
      ([key, value]) => have[key] !== value && !isKept(key),
    )
    return missing.length ? [[member, Object.fromEntries(missing)] as const] : []
  })
  if (!difference && metadata.length === 0) return undefined
  return {
    ...(metadata.length && { metadata: Object.fromEntries(metadata) }),
    ...(difference && { spec: difference }),
  }
}

function resourceOf({ apiVersion, kind }: SchedulerObject): Resource<SchedulerObject> {
  const found = schedulerObjectKinds.find(
    one => one.kind === kind && `${one.group}/${one.version}` === apiVersion,
  )
  if (!found) throw new Error(`the operator knows no resource for ${kind} of ${apiVersion}`)
  return found
}
