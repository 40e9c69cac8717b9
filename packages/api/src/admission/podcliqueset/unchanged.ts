// SPDX-License-Identifier: Apache-2.0

import { semanticallyEqual } from '@grove/apimachinery'
import { annotation } from '../../annotations.ts'
import { label } from '../../labels.ts'
import type { PodCliqueSet } from '../../types/index.ts'

/** The metadata that rules about the workload look at. */
const judgedLabels = [label.kaiQueue]
const judgedAnnotations = [annotation.kaiQueue, annotation.volcanoQueue, annotation.mnnvlGroup]

/**
 * Whether an update concerns nothing that is judged: the object is on its way out, or only other metadata changed. Such
 * an update always passes; a set that became invalid in the meantime must still let go of its finalizer.
 */
export function leavesWorkloadAlone(set: PodCliqueSet, old: PodCliqueSet): boolean {
  if (set.metadata.deletionTimestamp) return true
  return (
    judgedLabels.every(key => set.metadata.labels?.[key] === old.metadata.labels?.[key]) &&
    judgedAnnotations.every(key => set.metadata.annotations?.[key] === old.metadata.annotations?.[key]) &&
    semanticallyEqual(set.spec, old.spec)
  )
}
