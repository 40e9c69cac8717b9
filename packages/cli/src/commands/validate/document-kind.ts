// SPDX-License-Identifier: Apache-2.0

// Which documents admission judges, which it leaves to others, and what to say of the rest.
import { type AdmissionAnswer, apiVersion, groveGroup, kinds, schedulerGroup } from '@grove/api'
import type { ManifestDocument } from '../../manifest.ts'

export interface Judgement {
  readonly document: ManifestDocument
  readonly uid: string | undefined
  readonly kind: string
  readonly name: string
  readonly answer?: AdmissionAnswer
  /** Why there is no answer. */
  readonly note?: string
}

export const judgedKinds: ReadonlySet<string> = new Set([
  kinds.podCliqueSet.kind,
  kinds.clusterTopologyBinding.kind,
])

/** Groups whose objects stand beside a PodCliqueSet in many manifests. The cluster judges them itself. */
const ordinaryGroups: ReadonlySet<string> = new Set([
  '',
  'apiextensions.k8s.io',
  'apps',
  'autoscaling',
  'batch',
  'networking.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'resource.k8s.io',
  'scheduling.k8s.io',
  'storage.k8s.io',
  'kai.scheduler',
  'scheduling.run.ai',
  'scheduling.volcano.sh',
  'monitoring.coreos.com',
])

/** Undefined for documents that admission judges. */
export function notJudged(version: string, kind: string): Pick<Judgement, 'answer' | 'note'> | undefined {
  if (kind === '') return refused('the document has no kind: is it a Kubernetes object?')
  if (version === '') return refused(`the ${kind} has no apiVersion`)
  if (version === apiVersion && judgedKinds.has(kind)) return undefined
  const group = version.includes('/') ? version.slice(0, version.indexOf('/')) : ''
  if (group !== groveGroup && group !== schedulerGroup) {
    if (ordinaryGroups.has(group)) return { note: `not checked: ${kind} is not a kind of ours` }
    return refused(
      `unknown kind ${kind} of ${version}; grove checks ${[...judgedKinds].join(' and ')} of ${apiVersion}`,
    )
  }
  const known = Object.values(kinds).find(candidate => candidate.kind === kind)
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
