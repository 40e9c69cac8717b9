// SPDX-License-Identifier: Apache-2.0

import type { DeviceUse, DomainDocument, NodeRow, NodesDocument } from '../documents/types.ts'
import { type Children, el, type ViewElement, type ViewNode } from './element.ts'
import { badge, count, hiddenView, notesView } from './parts.ts'

export function nodesView({ root, devices, hiddenNodes, notes }: NodesDocument): ViewNode[] {
  return [
    el('h1', {}, 'Nodes'),
    ...notesView(notes),
    ...(root.nodes === 0
      ? [
          el(
            'p',
            { class: 'faint' },
            notes.namespace === undefined
              ? 'The dashboard sees no nodes.'
              : 'Nodes are shown with all namespaces only, because pods of other namespaces use their devices.',
          ),
        ]
      : [
          el(
            'p',
            { class: 'faint' },
            devices.length === 0
              ? 'No node offers devices.'
              : 'Devices in use, of those that the nodes offer.',
          ),
          el('ul', { class: 'tree' }, domainView(root, 0)),
        ]),
    ...hiddenView(hiddenNodes, 'nodes'),
  ]
}

/** Domains below this depth start closed. */
const openDepth = 2

function domainView(domain: DomainDocument, depth: number): ViewElement {
  const { level, name, nodes, readyNodes, devices, children, rows } = domain
  const title: Children = [
    ...(level === '' ? [] : [el('span', { class: 'kind' }, level), ' ']),
    el('strong', {}, name),
    ' ',
    count(readyNodes, nodes),
    ' nodes ready ',
    ...devicesView(devices),
  ]
  return el(
    'li',
    { 'data-key': `${level}/${name}` },
    el(
      'details',
      depth < openDepth ? { open: '' } : {},
      el('summary', { class: 'line' }, ...title),
      el('ul', {}, ...children.map(child => domainView(child, depth + 1)), ...rows.map(nodeView)),
    ),
  )
}

function nodeView({ name, isReady, isCordoned, devices, pods }: NodeRow): ViewElement {
  return el(
    'li',
    { 'data-key': `Node/${name}` },
    el(
      'div',
      { class: 'line' },
      el('span', { class: 'kind' }, 'Node'),
      ' ',
      name,
      ' ',
      badge(isReady ? 'Ready' : 'NotReady'),
      ...(isCordoned ? [' ', badge('Cordoned')] : []),
      ' ',
      ...devicesView(devices),
      pods === 0
        ? undefined
        : el('span', { class: 'faint' }, `${pods} ${pods === 1 ? 'pod' : 'pods'} of sets`),
    ),
  )
}

/** A meter shows the share, and the numbers next to it the amounts. */
function devicesView(devices: DeviceUse): Children {
  return Object.entries(devices)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, { allocatable, used }]) =>
      el(
        'span',
        { class: 'device' },
        el('meter', {
          value: String(Math.min(used, allocatable)),
          max: String(Math.max(allocatable, 1)),
          'aria-label': `${name} in use`,
        }),
        ` ${used}/${allocatable} ${name}, ${Math.max(0, allocatable - used)} free `,
      ),
    )
}
