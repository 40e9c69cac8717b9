// SPDX-License-Identifier: Apache-2.0

import { cliqueErrorCode, type Pod, podSchedulingGate } from '@grove/api'
import { isNotFound, type Stored } from '@grove/kube'
import { patchObject, runAll } from '../apply/writes.ts'
import { resources } from '../caches/resources.ts'
import { CodedError } from '../errors/coded-error.ts'
import type { CliqueInstance } from '../layout/layout.ts'
import type { StoredClique } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'
import { planGates } from './gates.ts'

/**
 * One empty entry asks the API server to forget who wrote which field. From then on it need not work that out anew for
 * whoever places and runs the pod, three tenths of what that costs: docs/decisions/0005-pods-without-managed-fields.md.
 */
const unrecorded = [{}]

/** Lifts our gate from the pods that may be placed; returns what went wrong. */
export function releasePods(
  clique: StoredClique,
  { name, podGang, basePodGang }: CliqueInstance,
  { caches }: OperatorContext,
  signal: AbortSignal,
): Promise<unknown[]> {
  const { namespace } = clique.metadata
  const { release } = planGates({
    clique: name,
    pods: caches.podsOf(clique),
    gang: caches.gangs.get({ namespace, name: podGang }),
    base: basePodGang
      ? {
          gang: caches.gangs.get({ namespace, name: basePodGang }),
          cliqueNamed: named => caches.cliques.get({ namespace, name: named }),
        }
      : undefined,
  })
  const strategic = {
    metadata: { managedFields: unrecorded },
    // Names the one gate to take away: those of others may change at the same moment.
    spec: { schedulingGates: [{ name: podSchedulingGate, $patch: 'delete' }] },
  }
  return runAll(
    release.map(pod => async () => {
      try {
        await patchObject(caches, resources.pods, pod as Stored<Pod>, { strategic }, { signal })
      } catch (error) {
        if (isNotFound(error)) return
        const message = `Error removing the gate of pod ${pod.metadata.name}`
        throw new CodedError('Sync', cliqueErrorCode.removeGate, message, error)
      }
    }),
  )
}
