// SPDX-License-Identifier: Apache-2.0

// Which outdated pods of a clique are replaced next. Pods that serve nobody go at once; those that serve go one at a
// time, the next only when everything serves again. So a clique with more pods than its minimum never falls below it;
// one with no more than that must go below it by one, or it could never be updated.
import type { Pod } from '@grove/api'
import { indexOf, isActive, isReady, templateHashOf } from './pod-state.ts'

export interface CliqueUpdateInput {
  readonly replicas: number
  readonly pods: readonly Pod[]
  isCurrent(hash: string): boolean
}

export interface CliqueUpdatePlan {
  readonly remove: readonly Pod[]
  /** Nothing outdated is left. */
  readonly finished: boolean
  /** Why nothing more is replaced now; undefined when something is, or nothing has to be. */
  readonly waitsFor: string | undefined
}

export function planCliqueUpdate({ replicas, pods, isCurrent }: CliqueUpdateInput): CliqueUpdatePlan {
  const active = pods.filter(isActive)
  const outdated = active.filter(pod => !isCurrent(templateHashOf(pod) ?? ''))
  if (outdated.length === 0) return { remove: [], finished: true, waitsFor: undefined }
  const useless = outdated.filter(pod => !isReady(pod))
  if (useless.length) return { remove: useless, finished: false, waitsFor: undefined }

  const waitsFor = blockedBy(active, replicas)
  if (waitsFor) return { remove: [], finished: false, waitsFor }
  return { remove: [oldest(outdated)], finished: false, waitsFor: undefined }
}

/** What must be seen before another serving pod may go. */
function blockedBy(active: readonly Pod[], replicas: number): string | undefined {
  if (active.length < replicas) return `${replicas - active.length} pods that are still to be made`
  const unready = active.filter(pod => !isReady(pod))
  if (unready.length) return `pod ${unready[0]!.metadata.name} to become ready`
  return undefined
}

function oldest(pods: readonly Pod[]): Pod {
  const age = (pod: Pod) => Date.parse(pod.metadata.creationTimestamp ?? '') || 0
  return [...pods].sort((a, b) => age(a) - age(b) || (indexOf(a) ?? 0) - (indexOf(b) ?? 0))[0]!
}
