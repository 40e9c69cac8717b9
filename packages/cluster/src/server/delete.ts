// SPDX-License-Identifier: Apache-2.0

import { equalJson } from '@grove/apimachinery'
import { type KubeObject, objectKey } from '../object.ts'
import type { Resource } from '../registry/resource.ts'
import { type ServerContext, strategyContext, timestamp } from './context.ts'
import type { DeleteOptions, PropagationPolicy } from './delete-options.ts'
import { present } from './presentation.ts'
import { apiError } from './status.ts'
import type { WriteRequest } from './write-request.ts'

export interface DeleteOutcome {
  /** The current object, or its last state after the deletion. */
  readonly object: KubeObject
  readonly gone: boolean
}

type Grace = 'none' | 'pending' | 'started'

/** The number of attempts if other clients write the object at the same time. */
const conflictAttempts = 5

export async function deleteObject(
  context: ServerContext,
  request: WriteRequest,
  options: DeleteOptions,
): Promise<DeleteOutcome> {
  const { resource, name } = request
  const key = objectKey(request.namespace, name)
  for (let attempt = 0; attempt < conflictAttempts; attempt++) {
    const stored = context.store.get(resource.storage, key)
    if (!stored) throw apiError.notFound(resource, name)
    checkPreconditions(resource, stored, options)
    await context.admission.validate(
      request.attributes('DELETE', undefined, present(resource, stored), { ...options }),
      context,
    )
    const outcome = step(context, request, key, stored, options)
    if (outcome) return outcome
  }
  throw apiError.modified(resource, name)
}

function checkPreconditions(resource: Resource, stored: KubeObject, options: DeleteOptions): void {
  const { uid, resourceVersion } = options.preconditions ?? {}
  const { metadata } = stored
  const about = { group: resource.group, plural: resource.kind }
  if (uid !== undefined && uid !== metadata.uid)
    throw apiError.conflict(
      about,
      metadata.name!,
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
    )
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion)
    throw apiError.conflict(
      about,
      metadata.name!,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
    )
}

/** One attempt. Returns undefined if another client wrote the object since `stored` was read. */
function step(
  context: ServerContext,
  request: WriteRequest,
  key: string,
  stored: KubeObject,
  options: DeleteOptions,
): DeleteOutcome | undefined {
  const { resource } = request
  const { dryRun } = request.options
  const now = context.clock.now()
  const draft: KubeObject = { ...stored, metadata: { ...stored.metadata } }
  const grace = startGrace(resource, draft, options, now)
  if (grace === 'pending') return { object: present(resource, stored), gone: false }
  resource.strategy.prepareForDelete?.(draft)
  const finalizers = finalizersFor(resource, draft, options)
  if (!equalJson(finalizers, stored.metadata.finalizers ?? [])) setFinalizers(draft, finalizers)
  const held = resource.strategy.isHeld?.(draft) ?? false
  if (held) draft.metadata.deletionTimestamp ??= timestamp(now)
  else if (grace === 'none' && finalizers.length > 0) markAsDeleting(draft, now)

  const mustWait = held || finalizers.length > 0 || (draft.metadata.deletionGracePeriodSeconds ?? 0) > 0
  let last = stored
  if (held || grace === 'started' || finalizers.length > 0) {
    if (dryRun || equalJson(draft, stored)) last = dryRun ? draft : stored
    else if (!context.store.write(resource.storage, key, draft, stored)) return undefined
    else last = draft
  }
  if (mustWait) return { object: present(resource, last), gone: false }
  if (dryRun) return { object: present(resource, last), gone: true }
  const removed = context.store.remove(resource.storage, key, last)
  if (!removed) return undefined
  resource.strategy.released?.(removed, strategyContext(context))
  return { object: present(resource, removed), gone: true }
}

/** Kinds with a grace period first get a deletionTimestamp. A later deletion can only shorten it. */
function startGrace(resource: Resource, draft: KubeObject, options: DeleteOptions, now: number): Grace {
  const { strategy } = resource
  if (!strategy.gracePeriod) return 'none'
  const { metadata } = draft
  const { gracePeriodSeconds } = options
  const asked = gracePeriodSeconds !== undefined && gracePeriodSeconds < 0 ? 1 : gracePeriodSeconds
  if (metadata.deletionTimestamp) {
    const current = metadata.deletionGracePeriodSeconds ?? 0
    if (current === 0) return 'none'
    if (asked === undefined || asked >= current) return 'pending'
    const due = Date.parse(metadata.deletionTimestamp) - (current - asked) * 1000
    metadata.deletionTimestamp = timestamp(Math.max(due, now))
    metadata.deletionGracePeriodSeconds = due < now && asked !== 0 ? 1 : asked
    return 'started'
  }
  const period = strategy.gracePeriod(draft, asked)
  metadata.deletionTimestamp = timestamp(now + period * 1000)
  metadata.deletionGracePeriodSeconds = period
  if (metadata.generation) metadata.generation++
  return 'started'
}

const orphanFinalizer = 'orphan'
const foregroundFinalizer = 'foregroundDeletion'

/** The older option `orphanDependents` takes precedence. */
function requestedPolicy({
  orphanDependents,
  propagationPolicy,
}: DeleteOptions): PropagationPolicy | undefined {
  if (orphanDependents === undefined) return propagationPolicy
  return orphanDependents ? 'Orphan' : 'Background'
}

/**
 * Returns the object's finalizers plus the garbage collector finalizers that the propagation policy needs.
 */
function finalizersFor(resource: Resource, draft: KubeObject, options: DeleteOptions): string[] {
  const current = draft.metadata.finalizers ?? []
  const policy =
    requestedPolicy(options) ?? policyOf(current) ?? resource.strategy.defaultPropagation ?? 'Background'
  const others = current.filter(name => name !== orphanFinalizer && name !== foregroundFinalizer)
  if (policy === 'Orphan') return [...others, orphanFinalizer]
  if (policy === 'Foreground') return [...others, foregroundFinalizer]
  return others
}

function policyOf(finalizers: readonly string[]): 'Orphan' | 'Foreground' | undefined {
  if (finalizers.includes(orphanFinalizer)) return 'Orphan'
  return finalizers.includes(foregroundFinalizer) ? 'Foreground' : undefined
}

function setFinalizers(draft: KubeObject, finalizers: string[]): void {
  if (finalizers.length > 0) draft.metadata.finalizers = finalizers
  else delete draft.metadata.finalizers
}

function markAsDeleting({ metadata }: KubeObject, now: number): void {
  if (!metadata.deletionTimestamp && metadata.generation) metadata.generation++
  if (!metadata.deletionTimestamp || Date.parse(metadata.deletionTimestamp) > now)
    metadata.deletionTimestamp = timestamp(now)
  metadata.deletionGracePeriodSeconds = 0
}
