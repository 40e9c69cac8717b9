// SPDX-License-Identifier: Apache-2.0

// Which outdated pods of a clique are replaced next, or why none is. Pods that serve nobody go at once; those
// that serve go one at a time, the next only when as many serve again as before. Pods that are not ready for
// other reasons neither hold the update up nor let it take more. A clique with more pods than its minimum
// never falls below it; one with no more than that must go below it by one, or it could never be updated.
import type { Pod, PodsSelectedToUpdate } from '@grove/api'
import { indexOf, isActive, isReady, templateHashOf } from './pod-state.ts'

export interface CliqueUpdateInput {
  readonly replicas: number
  readonly minAvailable: number
  readonly pods: readonly Pod[]
  isCurrent(hash: string): boolean
  /** The serving pod that was told to go last. */
  readonly selection: PodsSelectedToUpdate | undefined
  readonly paused: boolean
  /**
   * How long the target has to stand still before pods that are still starting are given up for it; 0: long
   * enough.
   */
  readonly settlesInMs: number
}

export type CliqueUpdatePlan =
  /** Nothing outdated is left, and what was taken down serves again. */
  | { readonly kind: 'finished' }
  /** Pods that serve nobody. */
  | { readonly kind: 'discard'; readonly pods: readonly Pod[] }
  /** A serving pod; how many were ready with it. */
  | { readonly kind: 'replace'; readonly pod: Pod; readonly readyBefore: number }
  | { readonly kind: 'wait'; readonly because: string; readonly retryInMs?: number; readonly paused?: true }

export function planCliqueUpdate(input: CliqueUpdateInput): CliqueUpdatePlan {
  const { replicas, minAvailable, isCurrent, selection } = input
  const active = input.pods.filter(isActive)
  const ready = active.filter(isReady).length
  const outdated = active.filter(pod => !isCurrent(templateHashOf(pod) ?? ''))
  // A selected pod that is still there was never told to go: whoever selected it died before.
  const selected = outdated.find(pod => pod.metadata.name === selection?.current)
  const awaited = selection && !selected ? Math.min(selection.readyBefore ?? replicas, replicas) : 0
  if (outdated.length === 0) return ready < awaited ? waiting(notBack(ready, awaited)) : { kind: 'finished' }
  if (input.paused) return { ...waiting('the update is paused'), paused: true }

  const useless = outdated.filter(pod => !isReady(pod))
  if (useless.length) {
    if (input.settlesInMs <= 0) return { kind: 'discard', pods: useless }
    const count = useless.length === 1 ? 'a pod that is' : `${useless.length} pods that are`
    return { ...waiting(`${count} not ready, until the template has settled`), retryInMs: input.settlesInMs }
  }
  if (ready < awaited) return waiting(notBack(ready, awaited))
  if (replicas > minAvailable ? ready <= minAvailable : ready < replicas)
    return waiting(
      `only ${ready} of ${replicas} pods are ready, and ${Math.min(minAvailable, replicas)} must stay so`,
    )
  return { kind: 'replace', pod: selected ?? oldest(outdated), readyBefore: ready }
}

function waiting(because: string) {
  return { kind: 'wait', because } as const
}

function notBack(ready: number, awaited: number): string {
  return `${ready} pods are ready, ${awaited} were before the last was replaced`
}

function oldest(pods: readonly Pod[]): Pod {
  const age = (pod: Pod) => Date.parse(pod.metadata.creationTimestamp ?? '') || 0
  return [...pods].sort((a, b) => age(a) - age(b) || (indexOf(a) ?? 0) - (indexOf(b) ?? 0))[0]!
}
