// SPDX-License-Identifier: Apache-2.0

// A small picture of the topology: domains as a tree, and on every node a letter for each pod of the plan.
import type { GangDecision, Level, Snapshot, SnapshotNode } from '@grove/scheduler'
import { clipped, faint, type Line } from '../terminal/line.ts'
import { columns, counted } from './columns.ts'

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** A letter for each scheduled gang. Gangs after the last letter share one mark. */
export function marksOf(gangs: readonly GangDecision[]): string[] {
  let scheduled = 0
  return gangs.map(({ verdict }) => (verdict === 'Scheduled' ? (letters[scheduled++] ?? '*') : '-'))
}

/** More pods of one gang on one node are a number. */
const drawnOneByOne = 4
/** Unused domains beyond this number share one line. */
const unusedShown = 3
const hostnameKey = 'kubernetes.io/hostname'

interface Drawing {
  readonly levels: readonly Level[]
  /** Text of the pods on each node that gets some. */
  readonly marks: ReadonlyMap<string, string>
}

export function pictureLines(snapshot: Snapshot, gangs: readonly GangDecision[]): Line[] {
  const marks = marksByNode(gangs)
  if (marks.size === 0) return []
  const levels = levelsOf(snapshot, gangs)
  return domainLines(snapshot.nodes, { levels, marks }, 0, '')
}

/** Levels of the first gang that has a topology. A level of single nodes is left out: nodes are drawn anyway. */
function levelsOf({ gangs: all }: Snapshot, gangs: readonly GangDecision[]): Level[] {
  const names = new Set(gangs.map(({ namespace, name }) => `${namespace}/${name}`))
  const found = all.find(
    ({ namespace, name, levels }) => names.has(`${namespace}/${name}`) && levels.length > 0,
  )
  return (found?.levels ?? []).filter(({ key }) => key !== hostnameKey)
}

function marksByNode(gangs: readonly GangDecision[]): Map<string, string> {
  const marks = new Map<string, string>()
  const letterOf = marksOf(gangs)
  gangs.forEach(({ pods }, position) => {
    const mark = letterOf[position] ?? ''
    for (const [node, on] of Map.groupBy(pods, pod => pod.node)) {
      if (node === null) continue
      const text = on.length > drawnOneByOne ? `${mark}×${on.length}` : mark.repeat(on.length)
      marks.set(node, `${marks.get(node) ?? ''}${text}`)
    }
  })
  return marks
}

function domainLines(
  nodes: readonly SnapshotNode[],
  drawing: Drawing,
  depth: number,
  indent: string,
): Line[] {
  const level = drawing.levels[depth]
  if (!level) return nodeLines(nodes, drawing, indent)
  const byValue = Map.groupBy(nodes, ({ labels }) => labels[level.key])
  const outside = byValue.get(undefined) ?? []
  byValue.delete(undefined)
  const domains = [...byValue].sort(([left], [right]) => compare(left ?? '', right ?? ''))
  const isUsed = (members: readonly SnapshotNode[]) => members.some(({ name }) => drawing.marks.has(name))
  const unused = domains.filter(([, members]) => !isUsed(members))
  const shown = unused.length > unusedShown ? domains.filter(([, members]) => isUsed(members)) : domains
  const lines = shown.flatMap(([value, members]): Line[] => {
    const title = `${indent}${level.domain} ${value}`
    if (!isUsed(members)) return [faint(`${title}  ${counted(members.length, 'node')}, no pod of this plan`)]
    return [title, ...domainLines(members, drawing, depth + 1, `${indent}  `)]
  })
  if (shown !== domains)
    lines.push(faint(`${indent}${counted(unused.length, `other ${level.domain}`)}, no pod of this plan`))
  if (isUsed(outside))
    lines.push(`${indent}no ${level.domain}`, ...nodeLines(outside, drawing, `${indent}  `))
  return lines
}

/** Nodes side by side, as many as fit. Nodes without a pod of the plan are counted. */
function nodeLines(nodes: readonly SnapshotNode[], { marks }: Drawing, indent: string): Line[] {
  const used = nodes.filter(({ name }) => marks.has(name))
  const cells = used.map(({ name }) => `${name} [${marks.get(name)}]`)
  const rest = nodes.length - used.length
  if (rest > 0) cells.push(`${counted(rest, 'other node')}`)
  const lines: string[] = []
  let line = ''
  for (const cell of cells) {
    if (line !== '' && [...`${indent}${line}  ${cell}`].length > columns) {
      lines.push(line)
      line = ''
    }
    line += line === '' ? cell : `  ${cell}`
  }
  return [...lines, line].map(text => clipped(`${indent}${text}`, columns))
}

function compare(left: string, right: string): number {
  return left.localeCompare(right, 'en', { numeric: true })
}
