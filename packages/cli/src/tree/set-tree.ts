// SPDX-License-Identifier: Apache-2.0

// The tree of a set as lines of text, and the reasons that do not fit into a line as notes below it.
import type { Condition } from '@grove/api'
import { conditionType } from '@grove/api/constants'
import { formatAge } from '@grove/apimachinery/age'
import {
  type CountedWait,
  type GangNote,
  isRootCause,
  type SetObjects,
  setTree,
  type TreeCount,
  type TreeNode,
} from '@grove/inspect'
import { bad, type Coloured, faint, good, joined, type Line, waiting, widthOf } from '../terminal/line.ts'

export interface TreeOptions {
  /** Prints ages at this time. Without it, no ages. */
  readonly now?: number
  /** A reason that makes a line wider than this is printed below the tree. */
  readonly columns?: number
}

/** Lines, each of which is one row, and notes, which are wrapped and never cut. */
export interface Picture {
  readonly lines: readonly Line[]
  readonly notes: readonly (string | Coloured)[]
}

export function treePicture(objects: SetObjects, options: TreeOptions = {}): Picture {
  const drawing = new Drawing(options)
  const lines = drawing.lines(setTree(objects))
  return { lines, notes: drawing.notes() }
}

class Drawing {
  readonly #options: TreeOptions
  /** Numbers of the notes by their text. */
  readonly #numbers = new Map<string, number>()

  constructor(options: TreeOptions) {
    this.#options = options
  }

  lines(node: TreeNode, indent = '', branch = ''): Line[] {
    const below = branch === '' ? '' : branch.startsWith('└') ? `${indent}   ` : `${indent}│  `
    const { children, hidden = 0 } = node
    const last = hidden > 0 ? children.length : children.length - 1
    const more = `… and ${hidden.toLocaleString('en')} more replicas that do not exist yet`
    return [
      this.#line(node, `${indent}${branch}`),
      ...children.flatMap((child, at) => this.lines(child, below, at === last ? '└─ ' : '├─ ')),
      ...(hidden > 0 ? [joined([`${below}└─ `, faint(more)])] : []),
    ]
  }

  notes(): (string | Coloured)[] {
    const notes = [...this.#numbers].map(([text, number]) => waiting(`[${number}] ${text}`))
    return notes.length > 0 ? ['', ...notes] : []
  }

  #line(node: TreeNode, start: string): Line {
    const { columns = Number.POSITIVE_INFINITY } = this.#options
    const inline = this.#parts(node, start, ({ text, detail }) =>
      detail === undefined ? text : `${text} [0]`,
    )
    if (widthOf(inline) <= columns) return this.#parts(node, start, wait => this.#withNote(wait, wait.text))
    const short = (shown: TreeNode) =>
      this.#parts(shown, start, ({ short: word, text, detail }) => {
        const note = detail ?? text
        return note === word ? word : `${word} ${this.#note(note)}`
      })
    const line = short(node)
    if (widthOf(line) <= columns) return line
    const notes = shownConditions(node).map(troubleNote)
    return joined(
      [short({ ...node, troubles: [] }), ...notes.map(note => ({ ...note, text: this.#note(note.text) }))],
      '  ',
    )
  }

  #parts(node: TreeNode, start: string, textOf: (wait: CountedWait) => string): Line {
    const { kind, name, count, updated, gang, errors = [], createdAt, deletedAt } = node
    const { now } = this.#options
    const parts: (Line | undefined)[] = [
      `${start}${kind} ${name}`,
      count && share(count),
      count?.needed ? bad(`scaled below its minAvailable ${count.needed}`) : undefined,
      updated && waiting(`${updated.have}/${updated.want} updated`),
      gang && this.#gang(gang, kind === 'group replica'),
      deletedAt ? bad('is being deleted') : undefined,
      ...node.waiting.map(wait => waiting(`${wait.pods} ${textOf(wait)}`)),
      ...errors.map(({ code, description }) => bad(`${code} ${this.#note(description)}`)),
      ...shownConditions(node).map(condition => this.#trouble(condition)),
      now !== undefined && createdAt ? faint(formatAge(createdAt, now)) : undefined,
    ]
    return joined(
      parts.filter(part => part !== undefined),
      '  ',
    )
  }

  #gang(gang: GangNote, isMember: boolean): Line {
    if (isMember && gang.isBase) return faint('in the base gang')
    if (gang.phase === undefined) return waiting(`PodGang ${gang.name} does not exist yet`)
    if (!gang.isComplete) return waiting(`PodGang ${gang.name} waits until its pods are created`)
    const note = gang.phase === 'Pending' ? `PodGang ${gang.name}` : `PodGang ${gang.name} ${gang.phase}`
    // The phase Starting says that the scheduler binds the pods.
    const troubles = gang.troubles.filter(({ reason }) => reason !== 'Binding')
    return joined([faint(note), ...troubles.map(trouble => this.#gangTrouble(trouble))], '  ')
  }

  #gangTrouble(condition: Condition): Line {
    const line = troubleNote(condition)
    if (condition.reason === 'BaseGangNotScheduled') return waiting('waits for the base gang')
    if (condition.type !== conditionType.podGangScheduled || !isRootCause(condition)) return line
    return { ...line, text: `${line.text} ${this.#note(condition.message)}` }
  }

  #trouble(condition: Condition): Line {
    const line = troubleNote(condition)
    const isStalled = condition.type === conditionType.stalled
    return isStalled ? { ...line, text: `${line.text} ${this.#note(condition.message)}` } : line
  }

  #withNote({ detail }: CountedWait, text: string): string {
    return detail === undefined ? text : `${text} ${this.#note(detail)}`
  }

  /** The reference to a note. The same text has the same number. */
  #note(text: string): string {
    const number = this.#numbers.get(text) ?? this.#numbers.size + 1
    this.#numbers.set(text, number)
    return `[${number}]`
  }
}

/**
 * Omits conditions about scheduling if pods have reasons or could not be created, which are more precise, and a stall if the line of a gang or
 * of a clique shows its cause.
 */
function shownConditions({ waiting: waits, troubles, errors = [] }: TreeNode): Condition[] {
  return troubles.filter(({ type, reason }) => {
    if (type === conditionType.podCliqueScheduled) return waits.length === 0 && errors.length === 0
    return type !== conditionType.stalled || !shownBelow.has(reason)
  })
}

const shownBelow: ReadonlySet<string> = new Set(['GangUnschedulable', 'PodsFailing'])

function troubleNote({ type, status, reason }: Condition): Coloured {
  const text = status === 'False' ? `not ${type}: ${reason}` : `${type}: ${reason}`
  return status === 'Unknown' ? waiting(text) : bad(text)
}

function share({ have, want, what }: TreeCount): Line {
  const text = `${have}/${want} ${what}`
  return have >= want ? good(text) : have === 0 ? bad(text) : waiting(text)
}
