// SPDX-License-Identifier: Apache-2.0

// One gang as text: its domain, its pods by node, and if it waits, the reason and the first fix.
import type { DomainName, Explanation, GangDecision, Level, PodDecision } from '@grove/scheduler'
import { bad, good, type Line, waiting } from '../terminal/line.ts'
import { columns, counted, filled } from './columns.ts'
import { fixText } from './fix-text.ts'

export interface GangTextOptions {
  /** Marks the gang in the picture of the topology. */
  readonly mark?: string
  readonly levels?: readonly Level[]
  /** Print the namespace in front of the name. */
  readonly hasNamespace?: boolean
}

export function gangLines(gang: GangDecision, options: GangTextOptions = {}): Line[] {
  const { mark = ' ', levels = [], hasNamespace = false } = options
  const name = hasNamespace ? `${gang.namespace}/${gang.name}` : gang.name
  const head = `${mark} ${name}  `
  if (gang.verdict !== 'Scheduled')
    return [
      [head, gang.verdict === 'Blocked' ? waiting('Blocked') : bad('Unschedulable'), codeOf(gang)],
      ...explanationLines(gang.explanation, levels),
    ]
  const score = gang.placementScore === undefined ? '' : `  score ${gang.placementScore.toFixed(2)}`
  const domain = domainOf(gang)
  const notBest = gang.provenance === 'proved' ? '' : ', a better placement may exist'
  return [
    [head, good('Scheduled'), `${domain === undefined ? '' : `  ${domain}`}${score}${notBest}`],
    ...groupsOf(gang.pods).flatMap(([group, pods]) => groupLines(group, pods)),
  ]
}

function codeOf({ explanation, provenance }: GangDecision): string {
  if (!explanation) return ''
  return `  ${explanation.code}${provenance === 'proved' ? '' : ', not proved'}`
}

/** The message, the group that misses the most, and the first fix. */
export function explanationLines(
  explanation: Explanation | undefined,
  levels: readonly Level[] = [],
): string[] {
  if (!explanation) return []
  const indent = '    '
  const { message, evidence, fixes, fixesCutShort } = explanation
  const missing = evidence.groups
    .filter(({ need, placeable }) => placeable < need)
    .map(({ podGroup, need, placeable }) => `${podGroup} ${placeable} of ${need}`)
  return [
    ...filled(message, indent),
    ...(missing.length > 0
      ? filled(`pods that fit alone: ${missing.join(', ')}`, `${indent}  `, indent)
      : []),
    ...(fixes[0] ? filled(`fix: ${fixText(fixes[0], levels)}`, `${indent}  `, indent) : []),
    ...(!fixes[0] && fixesCutShort
      ? filled('no fix found: the search ended early, because many gangs wait', `${indent}  `, indent)
      : []),
  ]
}

/** The narrowest required domain of the whole gang, such as `rack a/r1`. */
function domainOf({ scopes }: GangDecision): string | undefined {
  const scope = scopes.find(({ kind, required }) => kind === 'gang' && required?.domain)
  const required = scope?.required
  return required?.domain ? `${required.level} ${domainText(required.domain)}` : undefined
}

export function domainText(domain: DomainName): string {
  return Object.values(domain).join('/')
}

function groupsOf(pods: readonly PodDecision[]): [string, PodDecision[]][] {
  return [...Map.groupBy(pods, ({ podGroup }) => podGroup)]
}

/** Such as `llm-0-worker  4 pods on 2 nodes: n1 ×2, n2 ×2`. */
function groupLines(group: string, pods: readonly PodDecision[]): string[] {
  const placed = pods.filter(({ node }) => node !== null)
  const left = pods.length - placed.length
  const nodes = [...Map.groupBy(placed, ({ node }) => node ?? '')].map(
    ([node, on]) => `${node}${on.length > 1 ? ` ×${on.length}` : ''}`,
  )
  const start = `    ${group}  ${counted(placed.length, 'pod')} on ${counted(nodes.length, 'node')}: `
  return [
    ...(placed.length > 0 ? [withinColumns(start, nodes)] : []),
    ...(left > 0
      ? [`    ${group}  ${counted(left, 'surplus pod')} ${left === 1 ? 'waits' : 'wait'} for room`]
      : []),
  ]
}

/** As many items as fit on the line, at least one. */
function withinColumns(start: string, items: readonly string[]): string {
  let shown = items.length
  const text = () => {
    const rest = items.length - shown
    return `${start}${items.slice(0, shown).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
  }
  while (shown > 1 && [...text()].length > columns) shown--
  return text()
}
