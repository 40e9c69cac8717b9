// SPDX-License-Identifier: Apache-2.0

// The stored form of a revision: all input of its pods in the notation of the user. Fields with other owners, such as
// replica counts, are not part of it.
import { annotation } from '../annotations.ts'
import type { CliqueTemplate, PodCliqueSetSpec, PodCliqueSetTemplate } from '../types/index.ts'

/** The recorded part of a set. It is hashed and compared like the spec of a set. */
export interface RevisionRecord {
  readonly template: Pick<PodCliqueSetTemplate, 'cliqueStartupType' | 'priorityClassName'> & {
    readonly cliques: readonly RecordedClique[]
  }
}

export type RecordedClique = Pick<CliqueTemplate, 'name' | 'labels' | 'annotations'> & {
  readonly spec: Pick<CliqueTemplate['spec'], 'podSpec' | 'startsAfter'>
}

export function revisionRecord({ template }: Pick<PodCliqueSetSpec, 'template'>): RevisionRecord {
  const { cliqueStartupType, priorityClassName } = template
  return {
    template: {
      ...(cliqueStartupType && { cliqueStartupType }),
      ...(priorityClassName && { priorityClassName }),
      cliques: template.cliques.map(({ name, labels, annotations, spec: { podSpec, startsAfter } }) => ({
        name,
        ...(labels && { labels }),
        ...(annotations && { annotations }),
        spec: { podSpec, ...(startsAfter && { startsAfter }) },
      })),
    },
  }
}

/** Parses stored data. Returns undefined if it is not a record. */
export function readRevisionRecord(data: unknown): RevisionRecord | undefined {
  const template = memberOf(data, 'template')
  const cliques = memberOf(template, 'cliques')
  if (!Array.isArray(cliques)) return undefined
  const isWhole = cliques.every(clique => memberOf(memberOf(clique, 'spec'), 'podSpec') !== undefined)
  return isWhole ? (data as RevisionRecord) : undefined
}

export type Restored =
  | { readonly template: PodCliqueSetTemplate }
  /** Cliques that only one of the two has: an edit cannot restore the record. */
  | { readonly mismatch: readonly string[] }

/**
 * Returns a template with the pods of a record. All other fields keep their current value: replicas, scaling, topology
 * and immutable fields.
 */
export function restoreRecord(current: PodCliqueSetTemplate, { template: old }: RevisionRecord): Restored {
  const recorded = new Map(old.cliques.map(clique => [clique.name, clique]))
  const names = new Set(current.cliques.map(({ name }) => name))
  const mismatch = [
    ...current.cliques.map(({ name }) => name).filter(name => !recorded.has(name)),
    ...[...recorded.keys()].filter(name => !names.has(name)),
  ]
  if (mismatch.length) return { mismatch }
  const { priorityClassName: _, ...rest } = current
  return {
    template: {
      ...rest,
      ...(old.priorityClassName && { priorityClassName: old.priorityClassName }),
      cliques: current.cliques.map(clique => restoreClique(clique, recorded.get(clique.name)!)),
    },
  }
}

function restoreClique(current: CliqueTemplate, recorded: RecordedClique): CliqueTemplate {
  const { labels: _labels, annotations: _annotations, ...rest } = current
  const annotations = {
    ...without(recorded.annotations, annotation.topologyName),
    ...only(current.annotations, annotation.topologyName),
  }
  return {
    ...rest,
    ...(recorded.labels && { labels: recorded.labels }),
    ...(Object.keys(annotations).length && { annotations }),
    spec: { ...current.spec, podSpec: recorded.spec.podSpec },
  }
}

type Texts = Readonly<Record<string, string>>

function without(texts: Texts | undefined, key: string): Texts {
  const { [key]: _, ...rest } = texts ?? {}
  return rest
}

function only(texts: Texts | undefined, key: string): Texts {
  return texts?.[key] === undefined ? {} : { [key]: texts[key] }
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}
