// SPDX-License-Identifier: Apache-2.0

import type { NodeDocument } from '@grove/inspect'
import type { GangRow, PodRow, SetDocument } from '../documents/types.ts'
import { type Children, el, type ViewElement, type ViewNode } from './element.ts'
import { causeView } from './overview.ts'
import { age, badge, count, eventsView, hiddenView, notesView, section, table } from './parts.ts'

/** Fields of the tree that this page reads. */
type TreeNode = NodeDocument

export function setView(document: SetDocument, now: number): ViewNode[] {
  const { summary, revision, causes, tree, gangs, events, notes } = document
  const { namespace, name, state, replicas, availableReplicas, updatedReplicas } = summary
  return [
    el('p', { class: 'path' }, el('a', { href: '#/' }, 'PodCliqueSets'), ' / ', namespace),
    el('h1', {}, name, ' ', badge(state)),
    ...notesView(notes),
    el(
      'ul',
      { class: 'totals' },
      el('li', {}, count(availableReplicas, replicas), ' replicas available'),
      el('li', {}, count(updatedReplicas, replicas), ' updated'),
      el('li', {}, count(summary.readyPods, summary.pods), ' pods ready'),
      revision === undefined ? undefined : el('li', {}, `revision ${revision}`),
      summary.createdAt ? el('li', {}, 'age ', age(summary.createdAt, now)) : undefined,
    ),
    ...(causes.length > 0
      ? [section('Causes', el('ol', { class: 'causes' }, ...causes.map(cause => causeItem(cause, now))))]
      : []),
    section('Tree', el('ul', { class: 'tree' }, treeView(tree, document, now))),
    section(
      'Gangs',
      gangs.length === 0
        ? el('p', { class: 'faint' }, 'No PodGang exists yet.')
        : table(
            'PodGangs, pending ones first',
            [
              { heading: 'Gang' },
              { heading: 'Phase' },
              { heading: 'Pods scheduled', isNumber: true },
              { heading: 'Placement score', isNumber: true },
              { heading: 'Since' },
              { heading: 'Cause' },
            ],
            gangs.map(gang => gangCells(gang, now)),
          ),
      ...hiddenView(document.hiddenGangs, 'gangs'),
    ),
    eventsView('Events', events, now),
  ]
}

function causeItem({ reason, message, objects, pods, since }: SetDocument['causes'][number], now: number) {
  return el(
    'li',
    {},
    badge(reason),
    ` ${objects}`,
    ...(since === undefined ? [] : [' for ', age(since, now)]),
    ...(pods === 0 ? [] : [`, ${pods} ${pods === 1 ? 'pod waits' : 'pods wait'}`]),
    `: ${message}`,
  )
}

function gangCells(gang: GangRow, now: number): Children {
  const { name, phase, pods, scheduledPods, placementScore, cause } = gang
  return [
    name,
    badge(phase),
    count(scheduledPods, pods),
    placementScore === undefined ? '' : placementScore.toFixed(2),
    age(cause?.since, now) ?? '',
    cause || phase === 'Pending' ? causeView(cause) : '',
  ]
}

/** A branch is a details element, which works by keyboard and keeps its state while the page is updated. */
function treeView(node: TreeNode, document: SetDocument, now: number): ViewElement {
  const pods = node.kind === 'PodClique' ? document.pods[node.name] : undefined
  const line = lineOf(node)
  const hasChildren = node.children.length > 0 || (pods?.rows.length ?? 0) > 0
  if (!hasChildren) return el('li', { 'data-key': keyOf(node) }, el('div', { class: 'line' }, ...line))
  // Cliques start closed: a set can have thousands of pods, and the line of the clique counts them by reason.
  const isOpen = node.kind !== 'PodClique'
  return el(
    'li',
    { 'data-key': keyOf(node) },
    el(
      'details',
      isOpen ? { open: '' } : {},
      el('summary', { class: 'line' }, ...line),
      el(
        'ul',
        {},
        ...node.children.map(child => treeView(child, document, now)),
        ...(pods?.rows ?? []).map(pod => podView(pod, node.waitingPods.length > 1, now)),
        ...hiddenItem(pods?.hidden ?? 0, 'pods'),
        ...hiddenItem(node.hiddenChildren ?? 0, 'replicas that do not exist yet'),
      ),
    ),
  )
}

function lineOf(node: TreeNode): Children {
  const have = node.readyReplicas ?? node.availableReplicas
  return [
    el('span', { class: 'kind' }, node.kind),
    ' ',
    el('strong', {}, node.name),
    ' ',
    ...(have !== undefined && node.replicas !== undefined
      ? [count(have, node.replicas), node.readyReplicas === undefined ? ' available ' : ' ready ']
      : []),
    ...(node.minAvailable === undefined
      ? []
      : [el('span', { class: 'bad' }, `scaled below its minAvailable ${node.minAvailable} `)]),
    ...(node.updatedReplicas === undefined
      ? []
      : [el('span', { class: 'waiting' }, `${node.updatedReplicas} updated `)]),
    ...gangNote(node),
    ...(node.deletionTimestamp === undefined ? [] : [badge('Terminating'), ' ']),
    ...node.waitingPods.map(({ pods, message }) => el('span', { class: 'waiting' }, `${pods} ${message} `)),
    ...shownConditions(node).map(({ type, status, reason }) =>
      el('span', { class: 'bad' }, `${status === 'False' ? 'not ' : ''}${type}: ${reason} `),
    ),
  ]
}

/** Omits conditions about scheduling if the reasons of the pods are more precise. */
function shownConditions({ conditions, waitingPods }: TreeNode): TreeNode['conditions'] {
  return conditions.filter(({ type }) => waitingPods.length === 0 || type !== 'PodCliqueScheduled')
}

function gangNote({ podGang, kind }: TreeNode): Children {
  if (podGang === undefined) return []
  if (podGang.base && kind === 'ScalingGroupReplica')
    return [el('span', { class: 'faint' }, 'in the base gang ')]
  const text = `PodGang ${podGang.name} ${podGang.phase ?? 'does not exist yet'} `
  return [el('span', { class: podGang.phase === 'Running' ? 'faint' : 'waiting' }, text)]
}

/** Omits the message if the line of the clique shows it for all of its pods. */
function podView(pod: PodRow, hasMessage: boolean, now: number): ViewElement {
  const { name, state, message, node, restarts, createdAt } = pod
  return el(
    'li',
    { 'data-key': `Pod/${name}` },
    el(
      'div',
      { class: 'line' },
      el('span', { class: 'kind' }, 'Pod'),
      ' ',
      name,
      ' ',
      badge(state),
      ...(message === undefined || !hasMessage ? [] : [` ${message}`]),
      ...(node === undefined ? [] : [el('span', { class: 'faint' }, ` on ${node}`)]),
      ...(restarts > 0 ? [el('span', { class: 'waiting' }, ` ${restarts} restarts`)] : []),
      ' ',
      age(createdAt, now),
    ),
  )
}

function hiddenItem(hidden: number, what: string): ViewElement[] {
  return hidden > 0
    ? [
        el(
          'li',
          { class: 'faint', 'data-key': `hidden/${what}` },
          `… and ${hidden.toLocaleString('en')} more ${what}`,
        ),
      ]
    : []
}

function keyOf({ kind, name }: TreeNode): string {
  return `${kind}/${name}`
}
