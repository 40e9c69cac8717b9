// SPDX-License-Identifier: Apache-2.0

// The recorded revisions of a set. The wanted one exists exactly once and is the newest. Older ones are deleted when
// there are too many and no object uses them.
import {
  type CanonicalSetTemplate,
  type ControllerRevision,
  canonicalJson,
  canonicalSetTemplate,
  component,
  formerGenerationHash,
  generationHash,
  label,
  managedLabels,
  podTemplateHash,
  type RevisionRecord,
  readRevisionRecord,
  revisionRecord,
} from '@grove/api'
import type { Stored } from '@grove/kube'
import { controlledBy } from '../layout/owner.ts'
import type { StoredSet } from '../layout/stored.ts'
import { revisionOf } from './set-revision.ts'

/** The change cause that the user gave; `kubectl rollout history` shows the same annotation. */
export const changeCause = 'kubernetes.io/change-cause'

export interface HistoryInput {
  readonly set: StoredSet
  /** Records that the set controls and that are not terminating. */
  readonly recorded: readonly Stored<ControllerRevision>[]
  readonly limit: number
  /** Returns the generations and pod templates in use. Called only when there are too many revisions. */
  inUse(): HashesInUse
}

export interface HashesInUse {
  readonly generations: ReadonlySet<string>
  /** Written by `templateKey`: cliques with equal templates share a hash. */
  readonly templates: ReadonlySet<string>
}

export function templateKey(clique: string, hash: string): string {
  return `${clique}/${hash}`
}

export interface HistoryPlan {
  readonly create: ControllerRevision | undefined
  /** An old revision that is wanted again becomes the newest. */
  readonly raise: { readonly object: Stored<ControllerRevision>; readonly revision: number } | undefined
  /** The wanted revision was recorded under another name of its generation, for example by an earlier release. */
  readonly relabel:
    | { readonly object: Stored<ControllerRevision>; readonly generationHash: string }
    | undefined
  readonly remove: readonly Stored<ControllerRevision>[]
}

export function planHistory(input: HistoryInput): HistoryPlan {
  const { set, recorded, limit } = input
  const wanted = textOfTemplate(set.spec.template)
  const same = recorded.filter(one => textOf(one) === wanted).sort(newestFirst)
  const newest = Math.max(0, ...recorded.map(numberOf))
  const current = same[0]
  const create = current ? undefined : revisionObject(set, newest + 1, nameFor(set, recorded))
  const raise =
    current && recorded.some(one => one !== current && numberOf(one) >= numberOf(current))
      ? { object: current, revision: newest + 1 }
      : undefined
  const name = revisionOf(set).generationHash
  const relabel =
    current && current.metadata.labels?.[label.generationHash] !== name
      ? { object: current, generationHash: name }
      : undefined
  const excess = recorded.length + (create ? 1 : 0) - Math.max(1, limit)
  if (excess <= 0) return { create, raise, relabel, remove: [] }
  const spared = kept(input, current)
  const old = recorded.filter(one => !spared.has(one)).sort(newestFirst)
  return { create, raise, relabel, remove: old.slice(Math.max(0, old.length - excess)) }
}

/** Appends a counter to a name that collides with other content: only the content identifies a revision. */
export function revisionName(set: StoredSet, attempt: number): string {
  const name = `${set.metadata.name}-${generationHash(set.spec)}`
  return attempt === 0 ? name : `${name}-${attempt}`
}

export function revisionObject(set: StoredSet, revision: number, name: string): ControllerRevision {
  const cause = set.metadata.annotations?.[changeCause]
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name,
      namespace: set.metadata.namespace,
      labels: {
        ...managedLabels(set.metadata.name),
        [label.component]: component.revision,
        [label.name]: set.metadata.name,
        [label.generationHash]: generationHash(set.spec),
      },
      ...(cause !== undefined && { annotations: { [changeCause]: cause } }),
      ownerReferences: controlledBy(set),
    },
    revision,
    data: revisionRecord(set.spec) as unknown as ControllerRevision['data'],
  }
}

/** The content of a recorded revision; undefined if another client wrote something else. */
export function recordOf(revision: ControllerRevision): RevisionRecord | undefined {
  return readRevisionRecord(revision.data)
}

export function numberOf({ revision }: ControllerRevision): number {
  return revision ?? 0
}

function newestFirst(a: ControllerRevision, b: ControllerRevision): number {
  return numberOf(b) - numberOf(a)
}

function nameFor(set: StoredSet, recorded: readonly ControllerRevision[]): string {
  const taken = new Set(recorded.map(({ metadata }) => metadata.name))
  let attempt = 0
  while (taken.has(revisionName(set, attempt))) attempt++
  return revisionName(set, attempt)
}

/** The current revision, those that children have reached, and for every existing pod the newest that it can have. */
function kept({ recorded, inUse }: HistoryInput, current: ControllerRevision | undefined) {
  const { generations, templates } = inUse()
  const sparing = new Set<ControllerRevision>(current ? [current] : [])
  for (const one of recorded) if (generationNames(one).some(name => generations.has(name))) sparing.add(one)
  const unexplained = new Set(templates)
  for (const one of [...recorded].sort(newestFirst)) {
    const found = templateKeys(one).filter(key => unexplained.delete(key))
    if (found.length) sparing.add(one)
  }
  return sparing
}

const texts = new WeakMap<object, string>()

/** Equal templates have equal text. Cached objects are immutable, so the text is computed once per object. */
function textOf(revision: ControllerRevision): string {
  const record = recordOf(revision)
  return record ? textOfTemplate(record.template) : ''
}

function textOfTemplate(template: object): string {
  let text = texts.get(template)
  if (text === undefined) {
    const canonical: CanonicalSetTemplate = canonicalSetTemplate({ template })
    text = canonicalJson(canonical)
    texts.set(template, text)
  }
  return text
}

/** Children may still report a generation under the name that an earlier release gave it. */
function generationNames(revision: ControllerRevision): string[] {
  const stored = revision.metadata.labels?.[label.generationHash] ?? ''
  const record = recordOf(revision)
  return record ? [stored, generationHash(record), formerGenerationHash(record)] : [stored]
}

function templateKeys(revision: ControllerRevision): string[] {
  const { template } = recordOf(revision) ?? {}
  return template
    ? template.cliques.map(clique => templateKey(clique.name, podTemplateHash(template, clique)))
    : []
}
