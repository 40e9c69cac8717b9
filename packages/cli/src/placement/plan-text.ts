// SPDX-License-Identifier: Apache-2.0

import { bad, good, type Line } from '../terminal/line.ts'
import { counted } from './columns.ts'
import { gangLines } from './gang-text.ts'
import type { PlannedCluster } from './planned-cluster.ts'
import { marksOf, pictureLines } from './topology-picture.ts'
import { keyOf } from './waiting-gangs.ts'

/** The plan for people: a summary, every gang, and a picture of the topology with the pods. */
export function planLines({ snapshot, gangs }: PlannedCluster): Line[] {
  if (gangs.length === 0) return ['No gang waits.']
  const fitting = gangs.filter(({ verdict }) => verdict === 'Scheduled').length
  const isComplete = fitting === gangs.length
  const summary = isComplete
    ? `${gangs.length === 1 ? 'The gang fits' : `All ${counted(gangs.length, 'gang')} fit`}.`
    : `${fitting} of ${counted(gangs.length, 'gang')} ${fitting === 1 ? 'fits' : 'fit'}.`
  const levels = new Map(snapshot.gangs.map(gang => [keyOf(gang), gang.levels]))
  const hasNamespace = new Set(gangs.map(({ namespace }) => namespace)).size > 1
  const marks = marksOf(gangs)
  const picture = pictureLines(snapshot, gangs)
  return [
    isComplete ? good(summary) : bad(summary),
    '',
    ...gangs.flatMap((gang, at) =>
      gangLines(gang, { mark: marks[at] ?? '', levels: levels.get(keyOf(gang)) ?? [], hasNamespace }),
    ),
    ...(picture.length > 0 ? ['', ...picture] : []),
  ]
}
