// SPDX-License-Identifier: Apache-2.0

// The status of a set as text: one line about the set, then one note for each cause.
import { causeText, type SetObjects, statusDocument } from '@grove/inspect'
import { bad, type Coloured, good, waiting } from '../terminal/line.ts'
import type { Picture } from './set-tree.ts'

export function statusPicture(objects: SetObjects): Picture {
  const seen = statusDocument(objects)
  const { replicas, availableReplicas, updatedReplicas, updateProgress, converged, metadata } = seen
  const head = `${metadata.name}: ${availableReplicas}/${replicas} replicas available, ${updatedReplicas}/${replicas} on revision ${seen.revision ?? '(none yet)'}${seen.stalled ? `, stalled since ${seen.stalled.lastTransitionTime}` : ''}`
  const isUpdating = updateProgress?.updateStartedAt && !updateProgress.updateEndedAt
  const current = updateProgress?.currentlyUpdating?.[0]?.replicaIndex
  const notes: (string | Coloured)[] = []
  if (metadata.deletionTimestamp) notes.push(bad(`  being deleted since ${metadata.deletionTimestamp}`))
  if (isUpdating)
    notes.push(
      `  update started at ${updateProgress.updateStartedAt}${current === undefined ? '' : `, now at replica ${current}`}`,
    )
  const [first, ...others] = seen.causes.map(cause => `  ${causeText(cause)}`)
  if (first !== undefined) notes.push((converged ? waiting : bad)(first))
  notes.push(...others.map(waiting))
  const colour = converged ? good : seen.stalled ? bad : waiting
  return { lines: [colour(head)], notes }
}
