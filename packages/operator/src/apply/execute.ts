// SPDX-License-Identifier: Apache-2.0

// The executor sends the requests of a plan. It guarantees for every write of the operator:
// - Bounded: a call sends at most `parallelWrites` requests in parallel and creates at most `mostCreated` objects. The
//   reconcile of a set runs up to four calls at a time, one for each kind of its first children.
// - Creations start slowly, so that an exhausted quota causes only a few rejections.
// - Deletes and patches carry the UID: they never affect a successor with the same name.
// - NotFound is not an error: the object is gone, and the watch delivers its deletion.
// - AlreadyExists: see `ExistingObject`.
// - Failures do not stop independent intents. They are collected, reported as events, and returned.
import { type EventValue, podSchedulingGate } from '@grove/api'
import { isAlreadyExists, isNotFound, type KubeObject, messageOf, type Stored } from '@grove/kube'
import type { Caches } from '../caches/caches.ts'
import { resources } from '../caches/resources.ts'
import { CodedError, ReconcileFailed, throwIfAny } from '../errors/coded-error.ts'
import { isControlledBy } from '../layout/owner.ts'
import type { Memory } from '../memory/memory.ts'
import { deleteByUid } from './delete-by-uid.ts'
import type {
  Create,
  Delete,
  DeleteCollection,
  EventSink,
  ExistingObject,
  Intent,
  Patch,
  RemoveGate,
  Report,
  WriteStatus,
} from './intent.ts'
import { removePlanned } from './planned-removal.ts'
import { writeStatus } from './status-write.ts'
import { mostCreated, patchObject, runAll, runSlowStart } from './writes.ts'

export interface ApplyContext {
  readonly caches: Pick<Caches, 'client'>
  readonly events: EventSink
  readonly memory: Pick<Memory, 'removals'>
}

export interface ApplyOptions {
  readonly signal: AbortSignal
  /** Creations stop after this many failures. Default: 1. */
  readonly tolerated?: number
}

export interface Outcome {
  /** In the order of the intents, with creations last. */
  readonly failures: readonly unknown[]
  /** Intents that changed something. */
  readonly written: number
  /** Creations that were not attempted because others failed. */
  readonly skipped: number
  /** True if there may be more to create: planners stop at `mostCreated`. */
  readonly hasMore: boolean
}

export const nothingDone: Outcome = { failures: [], written: 0, skipped: 0, hasMore: false }

/** Merges several outcomes into one. */
export function combined(outcomes: readonly Outcome[]): Outcome {
  return {
    failures: outcomes.flatMap(({ failures }) => failures),
    written: outcomes.reduce((sum, { written }) => sum + written, 0),
    skipped: outcomes.reduce((sum, { skipped }) => sum + skipped, 0),
    hasMore: outcomes.some(({ hasMore }) => hasMore),
  }
}

/** Sends independent intents, creations after all others. */
export async function execute(
  intents: readonly Intent[],
  context: ApplyContext,
  { signal, tolerated = 1 }: ApplyOptions,
): Promise<Outcome> {
  const creations = intents.filter(intent => intent.kind === 'create').slice(0, mostCreated)
  const others = intents.filter(intent => intent.kind !== 'create')
  let written = 0
  const sent = async (intent: Intent) => {
    if (await send(intent, context, signal)) written++
  }
  const failed = await runAll(others.map(intent => () => sent(intent)))
  const created = await runSlowStart(
    creations.map(intent => () => sent(intent)),
    { tolerated },
  )
  return {
    failures: [...failed, ...created.failures].flatMap(eachFailure),
    written,
    skipped: created.skipped,
    hasMore: creations.length >= mostCreated,
  }
}

/** One failed request may stand for several errors, because a collection of objects fails as a whole. */
function eachFailure(failure: unknown): readonly unknown[] {
  return failure instanceof ReconcileFailed ? failure.errors : [failure]
}

/** Like `execute`, for intents whose failure ends the caller. Throws the failures after all intents were sent. */
export async function executeOrThrow(
  intents: readonly Intent[],
  context: ApplyContext,
  signal: AbortSignal,
): Promise<void> {
  throwIfAny((await execute(intents, context, { signal })).failures)
}

/** Sends the steps one after the other. After a step that fails, later steps are not sent. Returns the failures. */
export async function executeInOrder(
  steps: readonly (readonly Intent[])[],
  context: ApplyContext,
  options: ApplyOptions,
): Promise<readonly unknown[]> {
  for (const step of steps) {
    const { failures } = await execute(step, context, options)
    if (failures.length) return failures
  }
  return []
}

/** Sends several sequences of steps in parallel, each in its own order. Returns the failures. */
export async function executeEach(
  sequences: readonly (readonly (readonly Intent[])[])[],
  context: ApplyContext,
  options: ApplyOptions,
): Promise<readonly unknown[]> {
  const failures = await runAll(
    sequences.map(steps => async () => throwIfAny(await executeInOrder(steps, context, options))),
  )
  return failures.flatMap(eachFailure)
}

/** Sends one intent, emits its event, and throws its error. Returns whether something changed. */
async function send(intent: Intent, context: ApplyContext, signal: AbortSignal): Promise<boolean> {
  const report: Report | undefined = intent.report
  const emit = (events: EventValue | readonly EventValue[] = []) => {
    if (!report) return
    for (const event of [events].flat()) context.events.emit(report.about, report.source, event)
  }
  try {
    const written = await request(intent, context, signal)
    if (written) emit(report?.done?.(written))
    return written !== undefined
  } catch (error) {
    emit(report?.failed?.(messageOf(error)))
    throw error instanceof CodedError ? error : (intent.error?.(error) ?? error)
  }
}

/** The written object; undefined if nothing changed. */
function request(
  intent: Intent,
  context: ApplyContext,
  signal: AbortSignal,
): Promise<Stored<KubeObject> | undefined> {
  switch (intent.kind) {
    case 'create':
      return create(intent, context, signal)
    case 'patch':
      return patch(intent, context, signal)
    case 'delete':
      return deleteObject(intent, context, signal)
    case 'deleteCollection':
      return deleteCollection(intent, context, signal)
    case 'removeGate':
      return removeGate(intent, context, signal)
    case 'writeStatus':
      return status(intent, context, signal)
  }
}

async function create(
  { resource, object, known, priority, existing }: Create,
  context: ApplyContext,
  signal: AbortSignal,
) {
  const { client } = context.caches
  const update = (found: Stored | undefined, policy: ExistingObject) => {
    const merge = patchForExisting(found, policy)
    return merge && found && patchObject(context.caches, resource, found, { merge }, { signal })
  }
  if (known && existing) return update(known, existing)
  try {
    return await client.create(resource, object, { signal, ...(priority && { priority }) })
  } catch (error) {
    if (!existing || !isAlreadyExists(error)) throw error
    const { name = '', namespace } = object.metadata ?? {}
    return update(
      await client.find(resource, { name, ...(namespace && { namespace }) }, { signal }),
      existing,
    )
  }
}

/** Returns the patch that turns an existing object into the wanted one. Throws if no patch can. */
function patchForExisting(found: Stored | undefined, policy: ExistingObject) {
  if (!found || found.metadata.deletionTimestamp) {
    if (found && policy.awaitsDeletion?.(found)) return undefined
    throw new Error('its predecessor is still being deleted')
  }
  if (isControlledBy(found, policy.ownerUid)) return policy.repair?.(found)
  const adoption = policy.adopt?.(found)
  if (!adoption) throw policy.conflict(found)
  return adoption
}

function patch(
  { resource, object, merge, subresource }: Patch,
  { caches }: ApplyContext,
  signal: AbortSignal,
) {
  return unlessGone(
    patchObject(caches, resource, object, { merge }, { signal, ...(subresource && { subresource }) }),
  )
}

async function deleteObject({ resource, object }: Delete, { caches }: ApplyContext, signal: AbortSignal) {
  return (await deleteByUid(caches.client, resource, object, signal)) ? object : undefined
}

async function deleteCollection(
  { known, podsOf, ...removal }: DeleteCollection,
  { caches, memory: { removals } }: ApplyContext,
  signal: AbortSignal,
) {
  if (podsOf) removals.leavePods(podsOf, removal.planned)
  await removePlanned(known, removal, caches.client, signal)
  if (podsOf) removals.podsRemoved(podsOf, removal.planned)
  return { metadata: { name: '', uid: '', resourceVersion: '' } }
}

/**
 * One empty entry makes the API server drop the managed fields of the pod. This makes every later write of the pod
 * cheaper: docs/decisions/0005-pods-without-managed-fields.md.
 */
const noManagedFields = [{}]

function removeGate({ pod }: RemoveGate, { caches }: ApplyContext, signal: AbortSignal) {
  const strategic = {
    metadata: { managedFields: noManagedFields },
    // Names the one gate to remove, because other clients may change their gates at the same time.
    spec: { schedulingGates: [{ name: podSchedulingGate, $patch: 'delete' }] },
  }
  return unlessGone(patchObject(caches, resources.pods, pod, { strategic }, { signal }))
}

async function status(
  { resource, object, status, priority }: WriteStatus,
  { caches }: ApplyContext,
  signal: AbortSignal,
) {
  const options = { signal, ...(priority && { priority }) }
  return (await writeStatus(caches, resource, object, status, options)) ? object : undefined
}

async function unlessGone<T extends KubeObject>(written: Promise<Stored<T>>): Promise<Stored<T> | undefined> {
  try {
    return await written
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}
