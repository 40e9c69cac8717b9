// SPDX-License-Identifier: Apache-2.0

// The canonical form of templates. The operator decides about pod replacement by comparing these forms, never by a hash
// alone. Different notations and insignificant order give the same form.
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

/** The part of a clique template that determines its pods. Absent fields are really absent. */
export interface CanonicalPodTemplate {
  readonly labels?: Readonly<Record<string, unknown>>
  readonly annotations?: Readonly<Record<string, unknown>>
  readonly podSpec: Readonly<Record<string, unknown>>
  /** Priority class of the gang: `spec.template.priorityClassName`. The class of the pods is in the pod spec. */
  readonly gangPriorityClassName?: string
  /** Only with explicit startup, and as a set: in bytewise order, each name once. */
  readonly startsAfter?: readonly string[]
}

export interface CanonicalClique {
  readonly name: string
  readonly template: CanonicalPodTemplate
}

/** All cliques of a set: sorted by name, or in the given order with in-order startup. */
export interface CanonicalSetTemplate {
  /** Absent for the default, which starts cliques in any order. */
  readonly startupType?: string
  readonly cliques: readonly CanonicalClique[]
}

export function canonicalPodTemplate(
  template: SetTemplateInput,
  clique: CliqueTemplateInput,
): CanonicalPodTemplate {
  const spec = objectOf(clique.spec)
  const annotations = canonicalTextMap(clique.annotations)
  // It names the topology of the gang and is never copied to a PodClique or a pod.
  if (annotations) delete annotations[annotation.topologyName]
  // The operator overwrites or drops these labels.
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

/** The default of the schema. */
const defaultStartupType = 'CliqueStartupTypeAnyOrder'

/** Reports whether two canonical forms, or parts of them, are equal. */
export function sameCanonical(left: unknown, right: unknown): boolean {
  return left === right || canonicalJson(left) === canonicalJson(right)
}

/** Admission ensures unique names. Otherwise the content determines the order. */
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
