// SPDX-License-Identifier: Apache-2.0

// The tree of a set as lines of text.
import { type Condition, conditionType } from '@grove/api'
import { formatAge } from '@grove/apimachinery'
import { type GangNote, type SetObjects, setTree, type TreeCount, type TreeNode } from './set-model.ts'

export interface Paint {
  good(text: string): string
  waiting(text: string): string
  bad(text: string): string
  faint(text: string): string
}

const same = (text: string) => text

export const plain: Paint = { good: same, waiting: same, bad: same, faint: same }

/** Terminal colours. */
const coloured: Paint = {
  good: text => `\x1b[32m${text}\x1b[0m`,
  waiting: text => `\x1b[33m${text}\x1b[0m`,
  bad: text => `\x1b[31m${text}\x1b[0m`,
  faint: text => `\x1b[2m${text}\x1b[0m`,
}

/** Colours for people who look at a terminal and want them. */
export function paintFor(out: { readonly isTTY?: boolean }): Paint {
  return out.isTTY && !process.env.NO_COLOR ? coloured : plain
}

export interface TreeOptions {
  readonly paint?: Paint
  /** Shows ages as of this moment; none without it. */
  readonly now?: number
}

export function treeLines(objects: SetObjects, options: TreeOptions = {}): string[] {
  return drawn(setTree(objects), { paint: plain, ...options })
}

type Drawing = Required<Pick<TreeOptions, 'paint'>> & TreeOptions

function drawn(node: TreeNode, options: Drawing, indent = '', branch = ''): string[] {
  const below = branch === '' ? '' : branch.startsWith('└') ? `${indent}   ` : `${indent}│  `
  const last = node.children.length - 1
  return [
    `${indent}${branch}${lineOf(node, options)}`,
    ...node.children.flatMap((child, at) => drawn(child, options, below, at === last ? '└─ ' : '├─ ')),
  ]
}

function lineOf(node: TreeNode, { paint, now }: Drawing): string {
  const { kind, name, count, updated, gang, waiting, createdAt, deletedAt } = node
  const parts = [
    `${kind} ${name}`,
    count && share(count, paint),
    count?.needed && paint.bad(`scaled below its minAvailable ${count.needed}`),
    updated && paint.waiting(`${updated.have}/${updated.want} updated`),
    gang && gangNote(gang, kind === 'group replica', paint),
    deletedAt && paint.bad('is being deleted'),
    ...waiting.map(({ pods, why }) => paint.waiting(`${pods} ${why}`)),
    ...news(node).map(trouble => troubleNote(trouble, paint)),
    now !== undefined && createdAt ? paint.faint(formatAge(createdAt, now)) : undefined,
  ]
  return parts.filter(part => part).join('  ')
}

/** That pods are not scheduled is better told by what each of them waits for. */
function news({ waiting, troubles }: TreeNode): Condition[] {
  return troubles.filter(({ type }) => waiting.length === 0 || type !== conditionType.podCliqueScheduled)
}

function gangNote(gang: GangNote, isMember: boolean, paint: Paint): string {
  if (isMember && gang.isBase) return paint.faint('in the base gang')
  if (gang.phase === undefined) return paint.waiting(`PodGang ${gang.name} not there yet`)
  if (!gang.isComplete) return paint.waiting(`PodGang ${gang.name} waits for its pods`)
  const note = gang.phase === 'Pending' ? `PodGang ${gang.name}` : `PodGang ${gang.name} ${gang.phase}`
  return [paint.faint(note), ...gang.troubles.map(trouble => troubleNote(trouble, paint))].join('  ')
}

function troubleNote({ type, status, reason }: Condition, paint: Paint): string {
  const text = status === 'False' ? `not ${type}: ${reason}` : `${type}: ${reason}`
  return status === 'Unknown' ? paint.waiting(text) : paint.bad(text)
}

function share({ have, want, what }: TreeCount, paint: Paint): string {
  const text = `${have}/${want} ${what}`
  return have >= want ? paint.good(text) : have === 0 ? paint.bad(text) : paint.waiting(text)
}
