// SPDX-License-Identifier: Apache-2.0

// Which outdated pods of a clique are replaced next, or why none is. Pods that serve nobody go at once; those
// that serve go one at a time, the next only when the pod of the same index is ready again. Pods that are not
// ready for other reasons do not hold the update up: the update waits for an index, not for a count that an
// unrelated loss lowers. A clique with more pods than its minimum never falls below it; one with no more than
// that must go below it by one, or it could never be updated.
import type { Pod, PodsSelectedToUpdate } from '@grove/api'
import { indexOf, isActive, isReady, isTerminating, templateHashOf } from '../state/pod-state.ts'

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
  readonly stabilizesInMs: number
}

export type CliqueUpdatePlan =
  /** Nothing outdated is left, and what was taken down serves again. */
  | { readonly kind: 'finished' }
  /** Pods that serve nobody. */
  | { readonly kind: 'discard'; readonly pods: readonly Pod[] }
  /** A serving pod. */
  | { readonly kind: 'replace'; readonly pod: Pod }
  | { readonly kind: 'wait'; readonly because: string; readonly retryInMs?: number; readonly paused?: true }

export function planCliqueUpdate(input: CliqueUpdateInput): CliqueUpdatePlan {
  const { replicas, minAvailable, isCurrent, selection } = input
  const active = input.pods.filter(isActive)
  const ready = active.filter(isReady).length
  const outdated = active.filter(pod => !isCurrent(templateHashOf(pod) ?? ''))
  // A selected pod that is still there was never told to go: whoever selected it died before.
  const selected = outdated.find(pod => pod.metadata.name === selection?.current)
  const awaited = selected ? undefined : awaitedIndex(input)
  if (outdated.length === 0) return awaited === undefined ? { kind: 'finished' } : waiting(notBack(awaited))
  if (input.paused) return { ...waiting('the update is paused'), paused: true }

  const useless = outdated.filter(pod => !isReady(pod))
  if (useless.length) {
    if (input.stabilizesInMs <= 0) return { kind: 'discard', pods: useless }
    const count = useless.length === 1 ? 'a pod that is' : `${useless.length} pods that are`
    return {
      ...waiting(`${count} not ready, until the template has settled`),
      retryInMs: input.stabilizesInMs,
    }
  }
  if (awaited !== undefined) return waiting(notBack(awaited))
  if (replicas > minAvailable ? ready <= minAvailable : ready < replicas)
    return waiting(
      `only ${ready} of ${replicas} pods are ready, and ${Math.min(minAvailable, replicas)} must stay so`,
    )
  return { kind: 'replace', pod: selected ?? oldest(outdated) }
}

/**
 * The index of the replaced pod, while no pod of that index is ready; undefined when the update waits for none. A
 * finished pod that waits for its replacement keeps its index. Without any pod of the index the update waits only
 * while the clique lacks pods: after a scale-in the index may never be used again.
 */
function awaitedIndex({ selection, pods, replicas }: CliqueUpdateInput): number | undefined {
  const index = selection?.currentIndex
  if (index === undefined) return undefined
  const kept = pods.filter(pod => !isTerminating(pod))
  const holders = kept.filter(pod => indexOf(pod) === index)
  const isBack = holders.length ? holders.some(pod => isActive(pod) && isReady(pod)) : kept.length >= replicas
  return isBack ? undefined : index
}

function waiting(because: string) {
  return { kind: 'wait', because } as const
}

function notBack(index: number): string {
  return `the new pod with index ${index} is not ready yet`
}

function oldest(pods: readonly Pod[]): Pod {
  const age = (pod: Pod) => Date.parse(pod.metadata.creationTimestamp ?? '') || 0
  return [...pods].sort((a, b) => age(a) - age(b) || (indexOf(a) ?? 0) - (indexOf(b) ?? 0))[0]!
}
