// SPDX-License-Identifier: Apache-2.0

import type { Pod } from '@grove/api'
import { indexOf, isActive, isReady, isTerminating, templateHashOf } from '../state/pod-state.ts'
import type { Unit } from './units.ts'

export interface PodUnit extends Unit {
  readonly id: string
  readonly pod: Pod
}

/** The pods of a clique as units of its update. A finished pod keeps its index until it is replaced. */
export function podUnits(pods: readonly Pod[], isCurrent: (hash: string) => boolean): PodUnit[] {
  return pods
    .filter(pod => !isTerminating(pod))
    .map(pod => ({
      id: pod.metadata.name,
      index: indexOf(pod),
      outdated: isActive(pod) && !isCurrent(templateHashOf(pod) ?? ''),
      serving: isActive(pod) && isReady(pod),
      createdAt: Date.parse(pod.metadata.creationTimestamp ?? '') || 0,
      pod,
    }))
}
