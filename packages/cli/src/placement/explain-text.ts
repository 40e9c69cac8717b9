// SPDX-License-Identifier: Apache-2.0

import { defaultSchedulerName } from '@grove/scheduler'
import type { Line } from '../terminal/line.ts'
import { counted, filled } from './columns.ts'
import type { ExplainedCluster, ExplainedGang } from './explained-gangs.ts'
import { fixText } from './fix-text.ts'
import { gangLines } from './gang-text.ts'
import { keyOf } from './waiting-gangs.ts'

/** Prints every waiting gang with its reason, all fixes, and the messages of its scheduler. */
export function explainLines({ gangs, snapshots }: ExplainedCluster): Line[] {
  const levels = new Map(snapshots.flatMap(({ gangs: all }) => all.map(gang => [keyOf(gang), gang.levels])))
  return gangs.flatMap((gang, at) => {
    const own = levels.get(keyOf(gang)) ?? []
    return [
      ...(at > 0 ? [''] : []),
      ...gangLines(gang, { levels: own }),
      ...(gang.explanation?.fixes ?? [])
        .slice(1)
        .flatMap(fix => filled(`or: ${fixText(fix, own)}`, '      ', '    ')),
      ...stateLines(gang),
      ...reportLines(gang),
    ]
  })
}

function stateLines({ verdict, explanation, schedulerName, pods }: ExplainedGang): string[] {
  const isOurs = schedulerName === defaultSchedulerName
  if (verdict !== 'Scheduled')
    return explanation && explanation.since !== '' ? [`    waits since ${explanation.since}`] : []
  if (!pods.some(({ part }) => part === 'minimum')) return []
  return isOurs
    ? ['    The minimum fits now. grove-scheduler binds it in its next cycle.']
    : filled(`The minimum fits: ${defaultSchedulerName} would place it as above.`, '    ')
}

function reportLines({ schedulerName, reported }: ExplainedGang): string[] {
  if (schedulerName === defaultSchedulerName) return []
  if (reported.length === 0) return [`    ${schedulerName} reports nothing about its pods.`]
  return reported.flatMap(({ message, pods }) =>
    filled(
      `${schedulerName} reports for ${counted(pods, 'pod')}: ${message.replaceAll(/\s+/g, ' ')}`,
      '      ',
      '    ',
    ),
  )
}
