// SPDX-License-Identifier: Apache-2.0

// The canonical form of templates. Whether pods must be replaced is decided by comparing these forms, never by a hash
// alone: what is merely written differently, or reordered where order means nothing, is the same.
import { annotation } from '../annotations.ts'
import { reservedLabels } from '../labels.ts'
import { compareBytes } from './byte-order.ts'
import { canonicalJson } from './canonical-json.ts'
import { canonicalPodSpec, canonicalTextMap } from './canonical-pod.ts'
import {
  type CliqueTemplateInput,
  listOf,
  objectOf,
  type SetSpecInput,
  type SetTemplateInput,
} from './input.ts'

/** What decides about the pods of one clique. Absent members are really absent. */
export interface CanonicalPodTemplate {
  readonly labels?: Readonly<Record<string, unknown>>
  readonly annotations?: Readonly<Record<string, unknown>>
  readonly podSpec: Readonly<Record<string, unknown>>
  /** Of the gang: `spec.template.priorityClassName`. The pods' own class is in the pod specification. */
  readonly gangPriorityClassName?: string
  /** Only where start-up is explicit, and as a set: in bytewise order, each name once. */
  readonly startsAfter?: readonly string[]
}

export interface CanonicalClique {
  readonly name: string
  readonly template: CanonicalPodTemplate
}

/** All cliques of a set: by name, or as given where the order is the start-up order. */
export interface CanonicalSetTemplate {
  /** Absent for the default, by which cliques start in any order. */
  readonly startupType?: string
  readonly cliques: readonly CanonicalClique[]
}

export function canonicalPodTemplate(
  template: SetTemplateInput,
  clique: CliqueTemplateInput,
): CanonicalPodTemplate {
  const spec = objectOf(clique.spec)
  const annotations = canonicalTextMap(clique.annotations)
  // It names the topology of the gang and never reaches a PodClique or a pod.
  if (annotations) delete annotations[annotation.topologyName]
  // The operator gives these labels values of its own, or leaves them out.
  const labels = canonicalTextMap(clique.labels)
  for (const key of reservedLabels) delete labels?.[key]
  const explicit = template.cliqueStartupType === 'CliqueStartupTypeExplicit'
  return withoutAbsent({
    labels: labels && Object.keys(labels).length > 0 ? labels : undefined,
    annotations: annotations && Object.keys(annotations).length > 0 ? annotations : undefined,
    podSpec: canonicalPodSpec(spec.podSpec),
    gangPriorityClassName: nonEmptyText(template.priorityClassName),
    startsAfter: explicit ? canonicalNames(spec.startsAfter) : undefined,
  })
}

export function canonicalSetTemplate(spec: SetSpecInput): CanonicalSetTemplate {
  const template: SetTemplateInput = objectOf(spec.template)
  const cliques = listOf(template.cliques).map((value): CanonicalClique => {
    const clique: CliqueTemplateInput = objectOf(value)
    return { name: nonEmptyText(clique.name) ?? '', template: canonicalPodTemplate(template, clique) }
  })
  const startupType = nonEmptyText(template.cliqueStartupType) ?? defaultStartupType
  return {
    ...(startupType !== defaultStartupType && { startupType }),
    cliques: startupType === 'CliqueStartupTypeInOrder' ? cliques : cliques.sort(compareCliques),
  }
}

/** The API server fills it in. */
const defaultStartupType = 'CliqueStartupTypeAnyOrder'

/** Whether two canonical forms, or parts of them, are the same. */
export function sameCanonical(left: unknown, right: unknown): boolean {
  return left === right || canonicalJson(left) === canonicalJson(right)
}

/** Names are unique in every set that was admitted; for others the content decides. */
function compareCliques(left: CanonicalClique, right: CanonicalClique): number {
  return compareBytes(left.name, right.name) || compareBytes(canonicalJson(left), canonicalJson(right))
}

function canonicalNames(value: unknown): string[] | undefined {
  const names = new Set(listOf(value).filter(name => typeof name === 'string'))
  return names.size > 0 ? [...names].sort(compareBytes) : undefined
}

function nonEmptyText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function withoutAbsent(template: { [Key in keyof CanonicalPodTemplate]: unknown }): CanonicalPodTemplate {
  const members = Object.entries(template).filter(([, value]) => value !== undefined)
  return Object.fromEntries(members) as unknown as CanonicalPodTemplate
}
