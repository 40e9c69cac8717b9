// SPDX-License-Identifier: Apache-2.0

// Computes the effect of an edit of a PodCliqueSet on running pods before it is applied. It compares the same canonical
// templates as the operator.
import { annotation } from '../annotations.ts'
import {
  type CanonicalClique,
  type CanonicalPodTemplate,
  canonicalSetTemplate,
  sameCanonical,
} from './canonical.ts'
import { type FieldChange, fieldChanges } from './field-change.ts'
import { listOf, objectOf, type SetInput } from './input.ts'
import { unorderedLists } from './pod-rules.ts'

export interface Impact {
  /** At least one clique restarts its pods. With OnDelete, only after the user deletes them. */
  readonly restarts: boolean
  /** The set gets a new generation: also for a new or removed clique, or another startup order. */
  readonly startsUpdate: boolean
  /** Every clique of either version, by name. */
  readonly cliques: readonly CliqueImpact[]
  /** Changes that restart nothing. */
  readonly other: readonly HarmlessChange[]
}

export interface CliqueImpact {
  readonly name: string
  readonly outcome: 'unchanged' | 'restarts' | 'added' | 'removed'
  readonly restarts: boolean
  readonly because: readonly FieldChange[]
}

export type HarmlessChangeKind =
  | 'replicas'
  | 'scalingGroupReplicas'
  | 'minAvailable'
  | 'autoscaling'
  | 'scalingGroup'
  | 'startup'
  | 'terminationDelay'
  | 'topology'
  | 'service'
  | 'resourceSharing'
  | 'updateStrategy'
  | 'metadata'
  /** Only the order of the cliques, where it is insignificant. */
  | 'order'
  /** Another notation of the same template. */
  | 'notation'
  | 'other'

export interface HarmlessChange extends FieldChange {
  readonly kind: HarmlessChangeKind
}

export function impact(before: SetInput, after: SetInput): Impact {
  const old = canonicalSetTemplate(objectOf(before.spec))
  const now = canonicalSetTemplate(objectOf(after.spec))
  const cliques = compareCliques(old.cliques, now.cliques)
  return {
    restarts: cliques.some(clique => clique.restarts),
    startsUpdate: !sameCanonical(old, now),
    cliques,
    other: harmlessChanges(before, after, new Set(cliques.filter(isKept).map(clique => clique.name))),
  }
}

const isKept = (clique: CliqueImpact) => clique.outcome === 'unchanged'

function compareCliques(old: readonly CanonicalClique[], now: readonly CanonicalClique[]): CliqueImpact[] {
  const before = new Map(old.map(clique => [clique.name, clique.template]))
  const after = new Map(now.map(clique => [clique.name, clique.template]))
  return [...new Set([...before.keys(), ...after.keys()])].sort().map((name): CliqueImpact => {
    const left = before.get(name)
    const right = after.get(name)
    if (!left) return { name, outcome: 'added', restarts: false, because: [] }
    if (!right) return { name, outcome: 'removed', restarts: false, because: [] }
    if (sameCanonical(left, right)) return { name, outcome: 'unchanged', restarts: false, because: [] }
    return { name, outcome: 'restarts', restarts: true, because: templateChanges(name, left, right) }
  })
}

const sortedLists = new Set(Object.values(unorderedLists).flatMap(lists => Object.keys(lists)))
const isOrdered = (member: string) => !sortedLists.has(member)

function templateChanges(name: string, old: CanonicalPodTemplate, now: CanonicalPodTemplate): FieldChange[] {
  const clique = `spec.template.cliques[${name}]`
  return [
    ...fieldChanges(`${clique}.labels`, old.labels ?? {}, now.labels ?? {}),
    ...fieldChanges(`${clique}.annotations`, old.annotations ?? {}, now.annotations ?? {}),
    ...fieldChanges(`${clique}.spec.podSpec`, old.podSpec, now.podSpec, isOrdered),
    ...fieldChanges(`${clique}.spec.startsAfter`, old.startsAfter, now.startsAfter),
    ...fieldChanges('spec.template.priorityClassName', old.gangPriorityClassName, now.gangPriorityClassName),
  ]
}

function harmlessChanges(before: SetInput, after: SetInput, kept: ReadonlySet<string>): HarmlessChange[] {
  const changes = fieldChanges('', withoutPods(before), withoutPods(after))
    .map(change => ({ ...change, path: change.path.slice(1) }))
    // New and removed cliques are reported above.
    .filter(
      ({ path, change }) =>
        change === 'changed' || change === 'reordered' || !/^spec\.template\.cliques\[[^\]]*\]$/.test(path),
    )
    .map((change): HarmlessChange => ({ ...change, kind: kindOf(change, after) }))
  return [...changes, ...notationChanges(before, after, kept)]
}

/** The set without its pod templates, which are compared in canonical form. */
function withoutPods(set: SetInput): unknown {
  const { template: rawTemplate, ...spec } = objectOf(set.spec)
  const { priorityClassName: _gang, cliques, ...template } = objectOf(rawTemplate)
  const { labels, annotations } = objectOf(set.metadata)
  const explicit = template.cliqueStartupType === 'CliqueStartupTypeExplicit'
  return {
    metadata: { labels, annotations },
    spec: {
      ...spec,
      template: {
        ...template,
        cliques: listOf(cliques).map(value => {
          const { labels: _labels, annotations: _annotations, spec: rawSpec, ...clique } = objectOf(value)
          const { podSpec: _podSpec, startsAfter, ...cliqueSpec } = objectOf(rawSpec)
          const topologyName = objectOf(_annotations)[annotation.topologyName]
          return {
            ...clique,
            annotations: { [annotation.topologyName]: topologyName },
            spec: explicit ? cliqueSpec : { ...cliqueSpec, startsAfter },
          }
        }),
      },
    },
  }
}

const kinds: readonly [RegExp, HarmlessChangeKind][] = [
  [/^metadata\./, 'metadata'],
  [/\.podCliqueScalingGroups\[[^\]]*\]\.replicas$/, 'scalingGroupReplicas'],
  [/\.replicas$/, 'replicas'],
  [/\.minAvailable$/, 'minAvailable'],
  [/\.(autoScalingConfig|scaleConfig)\b/, 'autoscaling'],
  [/\.terminationDelay$/, 'terminationDelay'],
  [/\.topologyConstraint\b|\[grove\.io\/topology-name\]/, 'topology'],
  [/\.headlessServiceConfig\b/, 'service'],
  [/\.(resourceSharing|resourceClaimTemplates)\b/, 'resourceSharing'],
  [/^spec\.updateStrategy\b/, 'updateStrategy'],
  [/\.(startsAfter|cliqueStartupType)$/, 'startup'],
  [/\.podCliqueScalingGroups\b/, 'scalingGroup'],
]

function kindOf({ path, change }: FieldChange, after: SetInput): HarmlessChangeKind {
  if (path === 'spec.template.cliques' && change === 'reordered') {
    const { cliqueStartupType } = objectOf(objectOf(after.spec).template)
    return cliqueStartupType === 'CliqueStartupTypeInOrder' ? 'startup' : 'order'
  }
  return kinds.find(([pattern]) => pattern.test(path))?.[1] ?? 'other'
}

function notationChanges(before: SetInput, after: SetInput, kept: ReadonlySet<string>): HarmlessChange[] {
  const old = writtenPods(before)
  return [...writtenPods(after)]
    .filter(([name, pod]) => kept.has(name) && !sameCanonical(old.get(name), pod))
    .map(([name]) => ({ path: `spec.template.cliques[${name}]`, change: 'changed', kind: 'notation' }))
}

/** The pod templates of each clique in the notation of the user. */
function writtenPods(set: SetInput): Map<string, unknown> {
  const { cliques } = objectOf(objectOf(set.spec).template)
  return new Map(
    listOf(cliques).map(value => {
      const { name, labels, annotations, spec } = objectOf(value)
      const { [annotation.topologyName]: _topology, ...others } = objectOf(annotations)
      return [String(name), [labels, others, objectOf(spec).podSpec]]
    }),
  )
}
