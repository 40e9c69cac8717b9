// SPDX-License-Identifier: Apache-2.0

// All sets of a cluster as one table, with the first cause of each set that is not available.
import { formatAge } from '@grove/apimachinery/age'
import { causeText, type StatusDocument } from '@grove/inspect'
import { bad, type Coloured, good, joined, type Line, waiting } from '../terminal/line.ts'
import type { Picture } from './set-tree.ts'

const headings = ['NAMESPACE', 'NAME', 'AVAILABLE', 'UPDATED', 'PODS READY', 'AGE', 'CAUSE']
const gap = 3

/** Sets that are not available come first. */
export function overviewPicture(documents: readonly StatusDocument[], now: number): Picture {
  const sorted = documents.toSorted(
    (a, b) => Number(a.converged) - Number(b.converged) || compare(keyOf(a), keyOf(b)),
  )
  const rows = sorted.map(document => cellsOf(document, now))
  const widths = headings.map(
    (heading, at) => Math.max(...[heading, ...rows.map(row => row[at]!)].map(length)) + gap,
  )
  const lineOf = (cells: readonly string[], colour: (text: string) => Coloured | string): Line =>
    joined(cells.map((cell, at) => colour(at === cells.length - 1 ? cell : cell.padEnd(widths[at]!))))
  return {
    lines: [
      lineOf(headings, text => text),
      ...rows.map((row, at) => lineOf(row, sorted[at]!.converged ? good : waiting)),
    ],
    notes: notesOf(sorted),
  }
}

function cellsOf({ metadata, causes, pods, ...counts }: StatusDocument, now: number): string[] {
  const { replicas, availableReplicas, updatedReplicas, converged } = counts
  return [
    metadata.namespace,
    metadata.name,
    `${availableReplicas}/${replicas}`,
    `${updatedReplicas}/${replicas}`,
    `${pods.ready}/${pods.total}`,
    metadata.creationTimestamp ? formatAge(metadata.creationTimestamp, now) : '<unknown>',
    metadata.deletionTimestamp ? 'Terminating' : converged ? '' : (causes[0]?.reason ?? 'Reconciling'),
  ]
}

function notesOf(documents: readonly StatusDocument[]): (string | Coloured)[] {
  const notes = documents.flatMap(({ converged, metadata, causes: [cause] }) =>
    converged || !cause ? [] : [bad(`${metadata.namespace}/${metadata.name}: ${causeText(cause)}`)],
  )
  return notes.length > 0 ? ['', ...notes] : []
}

function keyOf({ metadata }: StatusDocument): string {
  return `${metadata.namespace}/${metadata.name}`
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function length(text: string): number {
  return text.length
}
