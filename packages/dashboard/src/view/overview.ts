// SPDX-License-Identifier: Apache-2.0

import type { OverviewDocument, PendingGang, SetSummary } from '../documents/types.ts'
import { type Children, el, type ViewElement, type ViewNode } from './element.ts'
import { age, badge, count, eventsView, hiddenView, notesView, section, table } from './parts.ts'
import { setLink } from './route.ts'

export function overviewView(document: OverviewDocument, now: number): ViewNode[] {
  const { totals, pendingGangs, sets, events, notes } = document
  return [
    el('h1', {}, 'PodCliqueSets'),
    ...notesView(notes),
    el(
      'ul',
      { class: 'totals' },
      total(totals.availableSets, totals.sets, 'sets available'),
      total(totals.readyPods, totals.pods, 'pods ready'),
      total(totals.gangs - totals.pendingGangs, totals.gangs, 'gangs scheduled'),
    ),
    ...(pendingGangs.length > 0
      ? [
          section(
            'Pending gangs',
            table(
              'Gangs that wait, and why',
              [
                { heading: 'Gang' },
                { heading: 'Set' },
                { heading: 'Pods', isNumber: true },
                { heading: 'Since' },
                { heading: 'Cause' },
              ],
              pendingGangs.map(gang => gangCells(gang, now)),
            ),
            ...hiddenView(document.hiddenGangs, 'pending gangs'),
          ),
        ]
      : []),
    section(
      'Sets',
      sets.length === 0
        ? el('p', { class: 'faint' }, 'There is no PodCliqueSet yet.')
        : table(
            'PodCliqueSets, those that are not available first',
            [
              { heading: 'Set' },
              { heading: 'State' },
              { heading: 'Available', isNumber: true },
              { heading: 'Updated', isNumber: true },
              { heading: 'Pods ready', isNumber: true },
              { heading: 'Age' },
              { heading: 'Cause' },
            ],
            sets.map(set => setCells(set, now)),
          ),
      ...hiddenView(document.hiddenSets, 'sets'),
    ),
    eventsView('Warnings', events, now),
  ]
}

function total(have: number, want: number, what: string): ViewElement {
  return el('li', {}, count(have, want), ` ${what}`)
}

function gangCells(gang: PendingGang, now: number): Children {
  const { name, namespace, set, pods, scheduledPods, cause } = gang
  return [
    name,
    setName(namespace, set),
    `${scheduledPods}/${pods}`,
    age(cause?.since, now) ?? '',
    causeView(cause),
  ]
}

export function causeView(cause: PendingGang['cause']): ViewNode {
  return cause
    ? el('span', {}, badge(cause.reason), ` ${cause.message}`)
    : el('span', { class: 'faint' }, 'being scheduled')
}

function setCells(set: SetSummary, now: number): Children {
  const { namespace, name, state, replicas, availableReplicas, updatedReplicas, cause } = set
  return [
    setName(namespace, name),
    badge(state),
    count(availableReplicas, replicas),
    count(updatedReplicas, replicas),
    count(set.readyPods, set.pods),
    age(set.createdAt, now) ?? '',
    cause ? causeView(cause) : '',
  ]
}

function setName(namespace: string, name: string): ViewElement {
  return el('a', { href: setLink(namespace, name) }, `${namespace}/${name}`)
}
