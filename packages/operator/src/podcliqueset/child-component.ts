// SPDX-License-Identifier: Apache-2.0

// Brings the children of one kind to what a set wants, and tells on the set what became of each.
import { type ErrorCode, type EventValue, eventSource } from '@grove/api'
import { isAlreadyExists, isNotFound, type KubeObject, type Resource, type Stored } from '@grove/kube'
import type { Outcome } from '../apply/execute.ts'
import type { MergePatch } from '../apply/intent.ts'
import { firstBatch, mostCreated, type Progress, patchObject, runAll, runSlowStart } from '../apply/writes.ts'
import { CodedError, ReconcileFailed, textOf, throwIfAny } from '../errors/coded-error.ts'
import { keyOf } from '../layout/object-key.ts'
import { isControlledBy } from '../layout/owner.ts'
import type { StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { type ChildKind, planChildren } from '../ownership/child-objects.ts'

/** Throws the failures of an outcome. */
export function progressOf({ failures, hasMore }: Outcome): Progress {
  throwIfAny(failures)
  return hasMore ? 'more' : 'complete'
}

/** One part of a set. */
export interface Component {
  /** As it stands in error texts. */
  readonly name: string
  run(): Promise<Progress>
  /** Begins when this one has succeeded. */
  readonly next?: Component
}

export interface ChildComponent<T extends KubeObject> {
  readonly name: string
  readonly code: ErrorCode
  readonly resource: Resource<T>
  /** Asked when its turn comes, so that what fails in it fails here. */
  kind(): ChildKind<T>
  written?(object: T): EventValue
  writeFailed?(object: T, error: string): EventValue
  removed?(object: T): EventValue
  removeFailed?(object: T, error: string): EventValue
}

export function childComponent<T extends KubeObject>(
  part: ChildComponent<T>,
  set: StoredSet,
  context: OperatorContext,
  signal: AbortSignal,
): Component {
  return { name: part.name, run: async () => new ChildWriter(part, set, context, signal).run() }
}

class ChildWriter<T extends KubeObject> {
  readonly #part: ChildComponent<T>
  readonly #kind: ChildKind<T>
  readonly #set: StoredSet
  readonly #context: OperatorContext
  readonly #signal: AbortSignal

  constructor(part: ChildComponent<T>, set: StoredSet, context: OperatorContext, signal: AbortSignal) {
    this.#part = part
    this.#kind = part.kind()
    this.#set = set
    this.#context = context
    this.#signal = signal
  }

  async run(): Promise<Progress> {
    const plan = planChildren(this.#kind)
    const changed = await runAll([
      ...plan.patch.map(
        ({ object, patch }) =>
          () =>
            this.#write(object, () => this.#patch(object, patch)),
      ),
      ...plan.remove.map(object => () => this.#remove(object)),
    ])
    // One child that is always rejected does not hold the others up; a quota is met by a few rejections.
    const { failures: notCreated, skipped } = await runSlowStart(
      plan.create.map(object => () => this.#write(object, () => this.#create(object))),
      { tolerated: firstBatch },
    )
    const failures = [
      ...plan.taken.map(object => this.#failure(object, takenText)),
      ...notCreated,
      ...(skipped ? [this.#skipped(skipped)] : []),
      ...changed,
    ]
    if (failures.length) throw new ReconcileFailed(failures)
    return plan.create.length < mostCreated ? 'complete' : 'more'
  }

  async #write(object: T, request: () => Promise<boolean>): Promise<void> {
    try {
      if (await request()) this.#report(this.#part.written?.(object))
    } catch (error) {
      this.#report(this.#part.writeFailed?.(object, textOf(error)))
      throw this.#failure(object, 'cannot be written', error)
    }
  }

  /** Tells whether anything was written. */
  async #create(object: T): Promise<boolean> {
    try {
      // Ahead of what only follows: everything else of a set waits for its children.
      await this.#client.create(this.#part.resource, object, { signal: this.#signal, priority: 'user' })
      return true
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
    return this.#repairUnseen(object)
  }

  /** The name is taken by what the cache does not show: ours and new, ours without its labels, or another's. */
  async #repairUnseen(object: T): Promise<boolean> {
    const found = await this.#client.find(this.#part.resource, refOf(object), { signal: this.#signal })
    if (!found || found.metadata.deletionTimestamp) throw new Error('its predecessor is still being deleted')
    if (!isControlledBy(found, this.#kind.ownerUid)) throw new Error(takenText)
    const difference = this.#kind.patch?.(found, object)
    return difference ? this.#patch(found, difference) : false
  }

  async #patch(object: Stored<T>, merge: MergePatch): Promise<boolean> {
    await patchObject(this.#context.caches, this.#part.resource, object, { merge }, { signal: this.#signal })
    return true
  }

  async #remove(object: Stored<T>): Promise<void> {
    const preconditions = { uid: object.metadata.uid }
    try {
      await this.#client.delete(this.#part.resource, refOf(object), { signal: this.#signal, preconditions })
      this.#report(this.#part.removed?.(object))
    } catch (error) {
      if (isNotFound(error)) return
      this.#report(this.#part.removeFailed?.(object, textOf(error)))
      throw this.#failure(object, 'cannot be deleted', error)
    }
  }

  get #client() {
    return this.#context.caches.client
  }

  #report(event: EventValue | undefined): void {
    if (event) this.#context.events.emit(this.#set, eventSource.podCliqueSet, event)
  }

  #skipped(count: number): CodedError {
    const { code, resource } = this.#part
    const message = `${count} more ${resource.kind} objects wait until these can be created`
    return new CodedError('Sync', code, message)
  }

  #failure(object: T, what: string, cause?: unknown): CodedError {
    const { code, resource } = this.#part
    return new CodedError('Sync', code, `${resource.kind} ${keyOf(object)} ${what}`, cause)
  }
}

const takenText = 'exists and is not controlled by this PodCliqueSet; remove it or rename the PodCliqueSet'

function refOf(object: KubeObject) {
  const { name = '', namespace = '' } = object.metadata ?? {}
  return { name, namespace }
}
