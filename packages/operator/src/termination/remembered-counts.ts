// SPDX-License-Identifier: Apache-2.0

// The replica counts of standalone cliques at their termination. A user or an autoscaler scaled them and wants the same
// count again. The cliques are deleted, so their set keeps the counts in an annotation until they exist again.
import { annotation, type PodCliqueSet } from '@grove/api'
import type { Patch } from '../apply/intent.ts'
import type { Caches } from '../caches/caches.ts'
import { resources } from '../caches/resources.ts'
import { eachReplica, standaloneClique, standaloneCliques, standaloneTemplates } from '../layout/layout.ts'
import type { StoredSet } from '../layout/stored.ts'

type Counts = Readonly<Record<string, number>>
type Known = Pick<Caches, 'sets' | 'cliques'>

/** By the name of the clique, from the cached set, which may be newer than the set of this reconcile. */
export function rememberedCounts({ metadata }: StoredSet, caches: Known): Counts {
  const known = caches.sets.get(metadata)
  return known?.metadata.uid === metadata.uid ? parseCounts(known) : {}
}

/** Write this before the cliques of a replica are deleted. */
export function countsToRemember(set: StoredSet, replica: number, caches: Known): Patch[] {
  const { namespace } = set.metadata
  const scaled = standaloneCliques(set, replica).flatMap(({ name, template }) => {
    const clique = caches.cliques.get({ namespace, name })
    return clique && clique.spec.replicas !== template.spec.replicas
      ? [[name, clique.spec.replicas] as const]
      : []
  })
  const before = rememberedCounts(set, caches)
  if (scaled.every(([name, count]) => before[name] === count)) return []
  return [annotate(set, { ...before, ...Object.fromEntries(scaled) })]
}

/** Write this after cliques were created: it drops counts of cliques that exist or that are not wanted. */
export function countsToForget(set: StoredSet, caches: Known): Patch[] {
  const before = Object.entries(rememberedCounts(set, caches))
  if (before.length === 0) return []
  const { namespace } = set.metadata
  const isMissing = (name: string) => {
    const clique = caches.cliques.get({ namespace, name })
    return !clique || clique.metadata.deletionTimestamp !== undefined
  }
  const missing = new Set(before.map(([name]) => name).filter(isMissing))
  const wanted = missing.size ? wantedAmong(missing, set) : new Set<string>()
  const left = before.filter(([name]) => wanted.has(name))
  return left.length < before.length ? [annotate(set, Object.fromEntries(left))] : []
}

function wantedAmong(names: ReadonlySet<string>, set: StoredSet): ReadonlySet<string> {
  const templates = standaloneTemplates(set)
  const wanted = new Set<string>()
  for (const replica of eachReplica(set))
    for (const template of templates) {
      const { name } = standaloneClique(set, replica, template)
      if (names.has(name)) wanted.add(name)
    }
  return wanted
}

/** Users can edit annotations: invalid entries are ignored, and the count of the template applies. */
export function parseCounts({ metadata }: Pick<PodCliqueSet, 'metadata'>): Counts {
  const text = metadata.annotations?.[annotation.countsBeforeTermination]
  const parsed = text === undefined ? undefined : parseJson(text)
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return {}
  return Object.fromEntries(
    Object.entries(parsed).filter(
      (entry): entry is [string, number] => Number.isSafeInteger(entry[1]) && (entry[1] as number) >= 0,
    ),
  )
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function annotate(object: StoredSet, counts: Counts): Patch {
  const value = Object.keys(counts).length ? JSON.stringify(counts) : null
  const merge = { metadata: { annotations: { [annotation.countsBeforeTermination]: value } } }
  return { kind: 'patch', resource: resources.podCliqueSets, object, merge }
}
