// SPDX-License-Identifier: Apache-2.0

// The objects that a scheduler reads for a gang. Fields that the scheduler owns are its business.
import { eventSource, kinds, type OwnerReference, setErrorCode } from '@grove/api'
import {
  defineResource,
  isAlreadyExists,
  isNotFound,
  type KubeObject,
  type Resource,
  type Stored,
} from '@grove/kube'
import { mergePatch } from '../apply/owned-fields.ts'
import { patchObject } from '../apply/writes.ts'
import type { Caches } from '../caches/caches.ts'
import { CodedError } from '../errors/coded-error.ts'
import { controlledBy, isControlledBy, isMadeForSameSet } from '../layout/owner.ts'
import type { StoredGang, StoredSet } from '../layout/stored.ts'
import { topologyName } from '../layout/topology.ts'
import type { OperatorContext } from '../operator-context.ts'
import { GangMappingError, type SchedulerBackend, type SchedulerObject } from '../schedulers/backend.ts'
import { schedulerOf } from '../schedulers/registry.ts'

export class SchedulerObjects {
  readonly #context: OperatorContext

  constructor(context: OperatorContext) {
    this.#context = context
  }

  async sync(set: StoredSet, gang: StoredGang, signal: AbortSignal): Promise<void> {
    const { backends, caches } = this.#context
    const backend = backends.find(schedulerOf(this.#context, set)) ?? backends.default
    for (const object of this.#wanted(backend, set, gang))
      await apply(caches, gang, object, backend.keepsInSpec ?? [], signal)
  }

  #wanted(backend: SchedulerBackend, set: StoredSet, gang: StoredGang): SchedulerObject[] {
    const { caches, events: sink } = this.#context
    const name = topologyName(set)
    const binding = name ? caches.topologyBindings.get({ name }) : undefined
    const entry = binding?.spec.schedulerTopologyBindings?.find(one => one.schedulerName === backend.name)
    try {
      return backend.objectsFor(gang, { set, ...(entry && { topologyReference: entry.topologyReference }) })
    } catch (error) {
      if (error instanceof GangMappingError && backend.mappingFailed)
        sink.emit(gang, eventSource.schedulerBackend, backend.mappingFailed(error.message))
      throw error
    }
  }
}

/** Creates the object, or updates the operator's fields of it. An object of another owner is reported, never patched. */
async function apply(
  caches: Caches,
  gang: StoredGang,
  object: SchedulerObject,
  keeps: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const resource = resourceOf(object)
  const { name, namespace = '' } = object.metadata
  const ref = { name, namespace }
  const cache = caches.podGroups(object.apiVersion)
  const find = () => caches.client.find(resource, ref, { signal })
  const create = async () => {
    try {
      await caches.client.create(resource, object as unknown as WithSpec, { signal })
      return undefined
    } catch (error) {
      // There, but not seen: it lost the label that we watch, or the watch is late.
      if (isAlreadyExists(error)) return find()
      throw error
    }
  }
  try {
    // Not served when it was last looked at: it may be by now, and is asked for every time.
    const existing = (cache ? cache.get(ref) : await find()) ?? (await create())
    if (!existing) return
    if (existing.metadata.deletionTimestamp) throw new Error('its predecessor is still being deleted')
    const adoption = isControlledBy(existing, gang.metadata.uid) ? undefined : adoptionBy(gang, existing)
    const difference = differenceFrom(existing as WithSpec, object, keeps)
    if (!adoption && !difference) return
    const metadata = { ...difference?.metadata, ...adoption }
    const merge = { ...difference, metadata }
    await patchObject(caches, resource, existing as Stored<WithSpec>, { merge }, { signal })
  } catch (error) {
    if (error instanceof CodedError) throw error
    throw new CodedError(
      'Sync',
      setErrorCode.applyPodGang,
      isNotFound(error) && !cache
        ? `the cluster does not serve ${object.kind} of ${object.apiVersion}: install the scheduler that PodGang ${namespace}/${name} is for`
        : `Error writing ${object.kind} ${namespace}/${name} of ${object.apiVersion}`,
      error,
    )
  }
}

/**
 * What makes the gang the controller of an object that has none and carries the operator's labels, or whose controller
 * was a former gang of this name: it is gone, because the name is in use again. Throws for any other object.
 */
function adoptionBy(gang: StoredGang, existing: Stored<KubeObject>): AdoptionPatch {
  const { name, namespace } = gang.metadata
  const { kind, apiVersion, metadata } = existing
  const { ownerReferences = [], resourceVersion } = metadata
  const controller = ownerReferences.find(owner => owner.controller)
  const isOrphan = !controller && isMadeForSameSet(existing, gang)
  const isOfFormer = controller?.kind === kinds.podGang.kind && controller.name === name
  if (!isOrphan && !isOfFormer)
    throw new CodedError(
      'Sync',
      setErrorCode.setControllerReference,
      `${kind} ${namespace}/${name} of ${apiVersion} exists and is not controlled by PodGang ${namespace}/${name}; delete it or rename the PodCliqueSet`,
    )
  const others = ownerReferences.filter(owner => owner !== controller)
  return { resourceVersion, ownerReferences: [...others, ...controlledBy(gang)] }
}

interface AdoptionPatch {
  readonly resourceVersion: string
  readonly ownerReferences: readonly OwnerReference[]
}

type WithSpec = KubeObject & { readonly spec?: Readonly<Record<string, unknown>> }

function differenceFrom(
  existing: WithSpec,
  wanted: SchedulerObject,
  keeps: readonly string[],
): { readonly metadata?: object; readonly spec?: unknown } | undefined {
  const spec = { ...(wanted.spec as Record<string, unknown>) }
  const before = Object.fromEntries(Object.keys(spec).map(key => [key, existing.spec?.[key]]))
  for (const member of keeps) if (existing.spec?.[member]) spec[member] = existing.spec[member]
  const difference = mergePatch(before, spec)
  const metadata = ['labels', 'annotations'].flatMap(member => {
    const have = existing.metadata?.[member as 'labels'] ?? {}
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
