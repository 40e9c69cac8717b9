// SPDX-License-Identifier: Apache-2.0

// The tree of a set as lines of text.
import { type Condition, conditionType } from '@grove/api'
import { formatAge } from '@grove/apimachinery'
import { bad, faint, good, joined, type Line, waiting } from '../terminal/line.ts'
import { type GangNote, type SetObjects, setTree, type TreeCount, type TreeNode } from './set-model.ts'

export interface TreeOptions {
  /** Prints ages at this time. Without it, no ages. */
  readonly now?: number
}

export function treeLines(objects: SetObjects, options: TreeOptions = {}): Line[] {
  return drawn(setTree(objects), options)
}

function drawn(node: TreeNode, options: TreeOptions, indent = '', branch = ''): Line[] {
  const below = branch === '' ? '' : branch.startsWith('└') ? `${indent}   ` : `${indent}│  `
  const { children, hidden = 0 } = node
  const last = hidden > 0 ? children.length : children.length - 1
  const more = `… and ${hidden.toLocaleString('en')} more replicas that do not exist yet`
  return [
    joined([`${indent}${branch}`, lineOf(node, options)]),
    ...children.flatMap((child, at) => drawn(child, options, below, at === last ? '└─ ' : '├─ ')),
    ...(hidden > 0 ? [joined([`${below}└─ `, faint(more)])] : []),
  ]
}

function lineOf(node: TreeNode, { now }: TreeOptions): Line {
  const { kind, name, count, updated, gang, createdAt, deletedAt } = node
  const parts: (Line | undefined)[] = [
    `${kind} ${name}`,
    count && share(count),
    count?.needed ? bad(`scaled below its minAvailable ${count.needed}`) : undefined,
    updated && waiting(`${updated.have}/${updated.want} updated`),
    gang && gangNote(gang, kind === 'group replica'),
    deletedAt ? bad('is being deleted') : undefined,
    ...node.waiting.map(({ pods, why }) => waiting(`${pods} ${why}`)),
    ...shownConditions(node).map(troubleNote),
    now !== undefined && createdAt ? faint(formatAge(createdAt, now)) : undefined,
  ]
  return joined(
    parts.filter(part => part !== undefined),
    '  ',
  )
}

/** Omits conditions about scheduling: the waiting reasons of the pods are more precise. */
function shownConditions({ waiting: waits, troubles }: TreeNode): Condition[] {
  return troubles.filter(({ type }) => waits.length === 0 || type !== conditionType.podCliqueScheduled)
}

function gangNote(gang: GangNote, isMember: boolean): Line {
  if (isMember && gang.isBase) return faint('in the base gang')
  if (gang.phase === undefined) return waiting(`PodGang ${gang.name} does not exist yet`)
  if (!gang.isComplete) return waiting(`PodGang ${gang.name} waits until its pods are created`)
  const note = gang.phase === 'Pending' ? `PodGang ${gang.name}` : `PodGang ${gang.name} ${gang.phase}`
  return joined([faint(note), ...gang.troubles.map(troubleNote)], '  ')
}

function troubleNote({ type, status, reason }: Condition): Line {
  const text = status === 'False' ? `not ${type}: ${reason}` : `${type}: ${reason}`
  return status === 'Unknown' ? waiting(text) : bad(text)
}

function share({ have, want, what }: TreeCount): Line {
  const text = `${have}/${want} ${what}`
  return have >= want ? good(text) : have === 0 ? bad(text) : waiting(text)
}
