// SPDX-License-Identifier: Apache-2.0

// One component of a set: compares the children of one kind with what the set wants, and returns intents.
import { type ErrorCode, type EventValue, eventSource } from '@grove/api'
import type { KubeObject, Resource } from '@grove/kube'
import { execute, type Outcome } from '../apply/execute.ts'
import type { Intent } from '../apply/intent.ts'
import { firstBatch } from '../apply/writes.ts'
import { setErrors } from '../errors/catalogue.ts'
import { keyOf } from '../layout/object-key.ts'
import type { StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { type ChildKind, type ChildPlan, planChildren } from '../ownership/child-objects.ts'

/** One component of a set. */
export interface Component {
  /** The name of the component in error messages. */
  readonly name: string
  run(): Promise<Outcome>
  /** Starts after this component has succeeded. */
  readonly next?: Component
}

export interface Components {
  /** Components of a group run concurrently and to completion. After a failure in a group, later groups do not run. */
  readonly groups: readonly (readonly Component[])[]
  /**
   * Processes in pods need them, but the creation of pods does not. They start after the first group, and no group
   * waits for them.
   */
  readonly alongside: readonly Component[]
}

export interface ChildComponent<T extends KubeObject> {
  readonly name: string
  readonly code: ErrorCode
  readonly resource: Resource<T>
  /** Called when the component starts, so that an exception is attributed to this component. */
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
  const run = async (): Promise<Outcome> => {
    const { code, resource } = part
    const kind = part.kind()
    const plan = planChildren(kind)
    // One child that is always rejected must not block the others. An exhausted quota causes only a few rejections.
    const options = { signal, tolerated: firstBatch }
    const outcome = await execute(childIntents(part, kind, plan, set), context, options)
    const foreign = plan.taken.map(object => setErrors.foreignChild(code, resource.kind, keyOf(object))())
    const skipped = outcome.skipped
      ? [setErrors.childrenNotAttempted(code, resource.kind, outcome.skipped + plan.later)()]
      : []
    return {
      ...outcome,
      failures: [...foreign, ...outcome.failures, ...skipped],
      // Children that this reconcile created let later replicas begin.
      hasMore: outcome.hasMore || (plan.later > 0 && outcome.written > 0),
    }
  }
  return { name: part.name, run }
}

function childIntents<T extends KubeObject>(
  part: ChildComponent<T>,
  { ownerUid, patch }: ChildKind<T>,
  plan: ChildPlan<T>,
  set: StoredSet,
): Intent[] {
  const { code, resource } = part
  const about = { about: set, source: eventSource.podCliqueSet }
  const written = (object: T) => ({
    error: setErrors.writeChild(code, resource.kind, keyOf(object)),
    report: {
      ...about,
      done: () => part.written?.(object) ?? [],
      failed: (error: string) => part.writeFailed?.(object, error) ?? [],
    },
  })
  return [
    ...plan.patch.map(
      ({ object, patch: merge }): Intent => ({ kind: 'patch', resource, object, merge, ...written(object) }),
    ),
    ...plan.remove.map(
      (object): Intent => ({
        kind: 'delete',
        resource,
        object,
        error: setErrors.deleteChild(code, resource.kind, keyOf(object)),
        report: {
          ...about,
          done: () => part.removed?.(object) ?? [],
          failed: error => part.removeFailed?.(object, error) ?? [],
        },
      }),
    ),
    ...plan.create.map(
      (object): Intent => ({
        kind: 'create',
        resource,
        object,
        // All other objects of a set depend on its children.
        priority: 'user',
        ...written(object),
        existing: {
          ownerUid,
          // The set controls the object: it is new, or it lost the labels that the cache selects.
          repair: existing => patch?.(existing as Parameters<NonNullable<typeof patch>>[0], object),
          conflict: setErrors.foreignChild(code, resource.kind, keyOf(object)),
        },
      }),
    ),
  ]
}
