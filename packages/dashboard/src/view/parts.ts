// SPDX-License-Identifier: Apache-2.0

// Parts that several pages share.
import { formatAge } from '@grove/apimachinery/age'
import type { EventRow, Notes } from '../documents/types.ts'
import { type Children, el, type ViewElement, type ViewNode } from './element.ts'

export type Tone = 'good' | 'waiting' | 'bad' | 'plain'

const tones: Readonly<Record<string, Tone>> = {
  Available: 'good',
  Ready: 'good',
  Running: 'good',
  Stalled: 'bad',
  Failed: 'bad',
  NotReady: 'bad',
  Unschedulable: 'bad',
  CrashLoopBackOff: 'bad',
  ImagePullBackOff: 'bad',
  ErrImagePull: 'bad',
  ContainerExited: 'bad',
  Succeeded: 'plain',
}

/** The word is always visible: colour is never the only sign. */
export function badge(state: string): ViewElement {
  return el('span', { class: `badge ${tones[state] ?? 'waiting'}` }, state)
}

export function count(have: number, want: number): ViewElement {
  const tone = have >= want ? 'good' : have === 0 ? 'bad' : 'waiting'
  return el('span', { class: `count ${tone}` }, `${have}/${want}`)
}

/** Omits missing times. */
export function age(time: string | undefined, now: number): ViewNode | undefined {
  if (time === undefined) return undefined
  const isTime = !Number.isNaN(Date.parse(time))
  return el('time', { datetime: time, title: time }, isTime ? formatAge(time, now) : time)
}

export interface Column {
  readonly heading: string
  /** Numbers are aligned to the right. */
  readonly isNumber?: boolean
}

/** On a narrow screen each cell is a line with its heading, so the page never scrolls sideways. */
export function table(caption: string, columns: readonly Column[], rows: readonly Children[]): ViewElement {
  const classOf = ({ isNumber }: Column): Record<string, string> => (isNumber ? { class: 'number' } : {})
  return el(
    'table',
    // The roles keep their meaning when a narrow screen shows the table as blocks.
    { role: 'table' },
    el('caption', {}, caption),
    el(
      'thead',
      { role: 'rowgroup' },
      el(
        'tr',
        { role: 'row' },
        ...columns.map(column =>
          el('th', { scope: 'col', role: 'columnheader', ...classOf(column) }, column.heading),
        ),
      ),
    ),
    el(
      'tbody',
      { role: 'rowgroup' },
      ...rows.map(cells =>
        el(
          'tr',
          { role: 'row' },
          ...cells.map((cell, at) =>
            el(
              'td',
              { role: 'cell', ...classOf(columns[at]!) },
              el('span', { class: 'heading', 'aria-hidden': 'true' }, columns[at]!.heading),
              el('span', { class: 'cell' }, cell as ViewNode),
            ),
          ),
        ),
      ),
    ),
  )
}

export function section(heading: string, ...children: Children): ViewElement {
  return el('section', {}, el('h2', {}, heading), ...children)
}

export function notesView({ namespace, isStale, problems }: Notes): ViewNode[] {
  const note = (text: string) => el('p', { class: 'note', role: 'status' }, text)
  return [
    ...(isStale ? [note('The cluster has not responded for minutes. This page may be out of date.')] : []),
    ...problems.map(({ resource, message }) => note(`Cannot read ${resource}: ${message}`)),
    ...(namespace === undefined ? [] : [note(`Only namespace ${namespace} is shown.`)]),
  ]
}

export function eventsView(heading: string, events: readonly EventRow[], now: number): ViewElement {
  if (events.length === 0)
    return section(heading, el('p', { class: 'faint' }, 'None that the cluster still keeps.'))
  const rows = events.map(event => [
    age(event.time, now) ?? '',
    el('span', { class: event.type === 'Warning' ? 'bad' : 'faint' }, event.type),
    event.reason,
    `${event.kind} ${event.namespace}/${event.name}`,
    event.count > 1 ? `${event.message} (${event.count} times)` : event.message,
  ])
  const columns = ['Age', 'Type', 'Reason', 'Object', 'Message'].map(heading => ({ heading }))
  return section(heading, table('The latest first', columns, rows))
}

export function hiddenView(hidden: number, what: string): ViewNode[] {
  return hidden > 0 ? [el('p', { class: 'faint' }, `… and ${hidden.toLocaleString('en')} more ${what}`)] : []
}
