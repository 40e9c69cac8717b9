// SPDX-License-Identifier: Apache-2.0

// Which documents admission judges, which it leaves to others, and what to say of the rest.
import { type AdmissionResponse, apiVersion, groveGroup, kinds, schedulerGroup } from '@grove/api'
import type { ManifestDocument } from '../../manifest.ts'

export interface Judgement {
  readonly document: ManifestDocument
  readonly uid: string | undefined
  readonly kind: string
  readonly name: string
  readonly object: unknown
  readonly oldObject: unknown
  readonly answer?: AdmissionResponse
  /** Why there is no answer. */
  readonly note?: string
}

export const judgedKinds: ReadonlySet<string> = new Set([
  kinds.podCliqueSet.kind,
  kinds.clusterTopologyBinding.kind,
])

/** Undefined for documents that admission judges. */
export function notJudged(version: string, kind: string): Pick<Judgement, 'answer' | 'note'> | undefined {
  if (kind === '') return refused('the document has no kind: is it a Kubernetes object?')
  if (version === '') return refused(`the ${kind} has no apiVersion`)
  if (version === apiVersion && judgedKinds.has(kind)) return undefined
  const group = version.includes('/') ? version.slice(0, version.indexOf('/')) : ''
  const known = Object.values(kinds).find(candidate => candidate.kind === kind)
  // Only the cluster knows which other API groups it serves.
  if (group !== groveGroup && group !== schedulerGroup) {
    const served = known ? `; ${kind} is served as ${known.group}/${known.version}` : ''
    return { note: `not checked: ${version} is not an API of Grove${served}` }
  }
  if (known && `${known.group}/${known.version}` === version)
    return { note: `not checked: objects of kind ${kind} are made by the operator` }
  if (known) return refused(`kind ${kind} is served as ${known.group}/${known.version}, not ${version}`)
  return refused(`unknown kind ${kind} of ${version}${suggestion(kind)}`)
}

function suggestion(kind: string): string {
  const meant = Object.values(kinds).find(
    candidate =>
      candidate.kind.toLowerCase() === kind.toLowerCase().replace(/s$/, '') ||
      candidate.shortName === kind.toLowerCase(),
  )
  return meant ? `; did you mean ${meant.kind}?` : ''
}

function refused(message: string): Pick<Judgement, 'answer'> {
  return { answer: { allowed: false, code: 400, reason: 'BadRequest', message, warnings: [] } }
}
