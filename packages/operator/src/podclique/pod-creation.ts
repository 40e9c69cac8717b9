// SPDX-License-Identifier: Apache-2.0

import { annotation, cliqueErrorCode, eventSource, events, type Pod } from '@grove/api'
import { runSlowStart } from '../apply/writes.ts'
import { resources } from '../caches/resources.ts'
import { CodedError, textOf } from '../errors/coded-error.ts'
import type { CliqueInstance } from '../layout/layout.ts'
import type { NewPod, StoredClique, StoredSet } from '../layout/stored.ts'
import { type PodContext, pod } from '../objects/pod.ts'
import type { OperatorContext } from '../operator-context.ts'
import { schedulerOf } from '../schedulers/registry.ts'

/** Makes the pods of these indexes, few at first; returns what went wrong. */
export async function createPods(
  set: StoredSet,
  clique: StoredClique,
  instance: CliqueInstance,
  indexes: readonly number[],
  context: OperatorContext,
  signal: AbortSignal,
  /** By index: how often its pods failed in a row. */
  failedBefore: ReadonlyMap<number, number> = new Map(),
): Promise<unknown[]> {
  if (indexes.length === 0) return []
  const name = clique.spec.podSpec.schedulerName || schedulerOf(context, set)
  const backend = context.backends.find(name)
  if (!backend) {
    const message = `schedulerName "${name}" is not an enabled scheduler backend`
    return [new CodedError('Sync', cliqueErrorCode.buildPod, message)]
  }
  const template = { ...context, set, clique, instance, backend }
  const { failures } = await runSlowStart(
    indexes.map(index => () => createPod(template, index, failedBefore.get(index) ?? 0, context, signal)),
  )
  return failures
}

async function createPod(
  template: PodContext,
  index: number,
  failures: number,
  { caches, events: sink }: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const { clique } = template
  const wanted = withFailures(built(template, index), failures)
  try {
    const created = await caches.client.create(resources.pods, wanted as Pod, { signal, priority: 'user' })
    sink.emit(clique, eventSource.podClique, events.podCreated(created.metadata.name))
  } catch (error) {
    sink.emit(clique, eventSource.podClique, events.podCreateFailed('', textOf(error)))
    throw new CodedError(
      'Sync',
      cliqueErrorCode.createPod,
      `Error creating pod ${wanted.spec?.hostname}`,
      error,
    )
  }
}

function built(template: PodContext, index: number): NewPod {
  try {
    return pod(template, index)
  } catch (error) {
    throw new CodedError('Sync', cliqueErrorCode.buildPod, 'Error building pod', error)
  }
}

/** The pod with the count of failures from which its own replacement is delayed. */
function withFailures(wanted: NewPod, failures: number): NewPod {
  if (failures === 0) return wanted
  const annotations = { ...wanted.metadata.annotations, [annotation.consecutiveFailures]: String(failures) }
  return { ...wanted, metadata: { ...wanted.metadata, annotations } }
}
