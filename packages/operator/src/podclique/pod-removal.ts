// SPDX-License-Identifier: Apache-2.0

import { cliqueErrorCode, eventSource, events, type Pod } from '@grove/api'
import { isNotFound } from '@grove/kube'
import { runAll } from '../apply/writes.ts'
import { resources } from '../caches/resources.ts'
import { CodedError, textOf } from '../errors/coded-error.ts'
import type { StoredClique } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'

/** Tells exactly these pods to go; returns what went wrong. */
export function removePods(
  clique: StoredClique,
  pods: readonly Pod[],
  { caches, events: sink }: OperatorContext,
  signal: AbortSignal,
): Promise<unknown[]> {
  return runAll(
    pods.map(({ metadata }) => async () => {
      const ref = { name: metadata.name, namespace: metadata.namespace ?? '' }
      try {
        await caches.client.delete(resources.pods, ref, {
          signal,
          ...(metadata.uid && { preconditions: { uid: metadata.uid } }),
        })
        sink.emit(clique, eventSource.podClique, events.podDeleted(metadata.name))
      } catch (error) {
        if (isNotFound(error)) return
        sink.emit(clique, eventSource.podClique, events.podDeleteFailed(textOf(error)))
        throw new CodedError('Sync', cliqueErrorCode.deletePod, `Error deleting pod ${metadata.name}`, error)
      }
    }),
  )
}
