// SPDX-License-Identifier: Apache-2.0

// Removes the gate of a pod when its gang is complete and lists it. For a scaled gang, the base gang must be scheduled
// as well.
import type { Pod, PodClique, PodGang } from '@grove/api'
import { isInitialized } from '../state/child-state.ts'
import { hasOurGate, isTerminating } from '../state/pod-state.ts'

export interface GateInput<P extends Pod = Pod> {
  readonly clique: string
  readonly pods: readonly P[]
  readonly gang: PodGang | undefined
  /** Undefined for cliques of a base gang. */
  readonly base: BaseGang | undefined
}

export interface BaseGang {
  readonly gang: PodGang | undefined
  cliqueNamed(name: string): PodClique | undefined
}

export interface GatePlan<P extends Pod = Pod> {
  readonly release: readonly P[]
  /** The reason why other pods stay gated, as a sentence; undefined if none do. */
  readonly waitsFor: string | undefined
}

export function planGates<P extends Pod>({ clique, pods, gang, base }: GateInput<P>): GatePlan<P> {
  const gated = pods.filter(pod => hasOurGate(pod) && !isTerminating(pod))
  if (gated.length === 0) return { release: [], waitsFor: undefined }
  if (!gang) return { release: [], waitsFor: 'its PodGang does not exist yet' }
  if (!isInitialized(gang))
    return { release: [], waitsFor: `PodGang ${gang.metadata.name} is not complete yet` }
  const missing = base && baseGangLacks(base)
  if (missing) return { release: [], waitsFor: missing }
  const listed = new Set(
    gang.spec.podgroups.find(group => group.name === clique)?.podReferences.map(reference => reference.name),
  )
  const release = gated.filter(pod => listed.has(pod.metadata.name))
  return {
    release,
    waitsFor:
      release.length < gated.length ? `PodGang ${gang.metadata.name} does not list every pod yet` : undefined,
  }
}

/** The reason why scaled gangs must wait for the base gang; undefined if they need not. */
function baseGangLacks({ gang, cliqueNamed }: BaseGang): string | undefined {
  if (!gang) return 'its base PodGang does not exist yet'
  for (const group of gang.spec.podgroups) {
    const scheduled = cliqueNamed(group.name)?.status?.scheduledReplicas ?? 0
    if (scheduled < group.minReplicas)
      return `PodClique ${group.name} of the base PodGang ${gang.metadata.name} has ${scheduled} of ${group.minReplicas} pods scheduled`
  }
  return undefined
}
