// SPDX-License-Identifier: Apache-2.0

import { semanticallyEqual } from '@grove/apimachinery'
import { annotation } from '../../annotations.ts'
import { label } from '../../labels.ts'
import type { PodCliqueSet } from '../../types/index.ts'

/** Labels and annotations that the rules read. */
const relevantLabels = [label.kaiQueue]
const relevantAnnotations = [annotation.kaiQueue, annotation.volcanoQueue, annotation.mnnvlGroup]

/**
 * Reports whether only metadata changed that no rule reads. Such an update is always allowed. A stored set that has
 * become invalid must still be able to lose its finalizer.
 */
export function leavesWorkloadAlone(set: PodCliqueSet, old: PodCliqueSet): boolean {
  return (
    relevantLabels.every(key => set.metadata.labels?.[key] === old.metadata.labels?.[key]) &&
    relevantAnnotations.every(key => set.metadata.annotations?.[key] === old.metadata.annotations?.[key]) &&
    semanticallyEqual(set.spec, old.spec)
  )
}
