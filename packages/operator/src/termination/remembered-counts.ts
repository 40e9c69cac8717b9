// SPDX-License-Identifier: Apache-2.0

// How many pods standalone cliques had when they were terminated. Whoever scaled them, by hand or by any
// autoscaler, wants as many again; the cliques are gone by then, so their set keeps it until they are back.
import { annotation, type PodCliqueSet } from '@grove/api'
import { patchObject } from '../apply/writes.ts'
import { resources } from '../caches/resources.ts'
import { eachReplica, standaloneClique, standaloneCliques, standaloneTemplates } from '../layout/layout.ts'
import type { StoredSet } from '../layout/stored.ts'
import type { OperatorContext } from '../operator-context.ts'

type Counts = Readonly<Record<string, number>>

/** By the name of the clique; as the set is known now, which may be newer than the pass. */
export function rememberedCounts({ metadata }: StoredSet, { caches }: OperatorContext): Counts {
  const known = caches.sets.get(metadata)
  return known?.metadata.uid === metadata.uid ? countsIn(known) : {}
}

/** To be called before the cliques of a replica are taken down. */
export async function rememberCounts(
  set: StoredSet,
  replica: number,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const { namespace } = set.metadata
  const scaled = standaloneCliques(set, replica).flatMap(({ name, template }) => {
    const clique = context.caches.cliques.get({ namespace, name })
    return clique && clique.spec.replicas !== template.spec.replicas
      ? [[name, clique.spec.replicas] as const]
      : []
  })
  const before = rememberedCounts(set, context)
  if (scaled.every(([name, count]) => before[name] === count)) return
  await write(set, { ...before, ...Object.fromEntries(scaled) }, context, signal)
}

/** To be called when cliques were made: those that are there, or are not wanted any more, need no remembering. */
export async function forgetCounts(
  set: StoredSet,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const before = Object.entries(rememberedCounts(set, context))
  if (before.length === 0) return
  const { namespace } = set.metadata
  const isMissing = (name: string) => {
    const clique = context.caches.cliques.get({ namespace, name })
    return !clique || clique.metadata.deletionTimestamp !== undefined
  }
  const missing = new Set(before.map(([name]) => name).filter(isMissing))
  const wanted = missing.size ? wantedAmong(missing, set) : new Set<string>()
  const left = before.filter(([name]) => wanted.has(name))
  if (left.length < before.length) await write(set, Object.fromEntries(left), context, signal)
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

function countsIn({ metadata }: PodCliqueSet): Counts {
  try {
    const parsed: unknown = JSON.parse(metadata.annotations?.[annotation.countsBeforeTermination] ?? '{}')
    return typeof parsed === 'object' && parsed !== null ? (parsed as Counts) : {}
  } catch {
    // Somebody else has written there: then nothing is remembered, and the template says how many.
    return {}
  }
}

async function write(
  set: StoredSet,
  counts: Counts,
  { caches }: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const value = Object.keys(counts).length ? JSON.stringify(counts) : null
  const merge = { metadata: { annotations: { [annotation.countsBeforeTermination]: value } } }
  await patchObject(caches, resources.podCliqueSets, set, { merge }, { signal })
}
