// SPDX-License-Identifier: Apache-2.0

// Decides which documents admission validates, and describes why others are not checked.
import { type AdmissionResponse, apiVersion, groveGroup, kinds, schedulerGroup } from '@grove/api'
import type { ManifestDocument } from '../../manifests/manifest.ts'
import { similarName } from '../../manifests/similar-name.ts'

export interface CheckedDocument {
  readonly document: ManifestDocument
  readonly uid: string | undefined
  readonly kind: string
  readonly name: string
  readonly object: unknown
  readonly oldObject: unknown
  readonly response?: AdmissionResponse
  /** The reason why the document was not validated. */
  readonly note?: string
}

export const validatedKinds: ReadonlySet<string> = new Set([
  kinds.podCliqueSet.kind,
  kinds.clusterTopologyBinding.kind,
])

/** Returns undefined for documents that admission validates. */
export function notValidated(
  version: string,
  kind: string,
): Pick<CheckedDocument, 'response' | 'note'> | undefined {
  if (kind === '') return rejected('the document has no kind: is it a Kubernetes object?')
  if (version === '') return rejected(`the ${kind} has no apiVersion`)
  if (version === apiVersion && validatedKinds.has(kind)) return undefined
  const group = version.includes('/') ? version.slice(0, version.indexOf('/')) : ''
  const known = Object.values(kinds).find(candidate => candidate.kind === kind)
  // Only the cluster knows which other API groups it serves. A set of another group is most likely a mistake.
  if (group !== groveGroup && group !== schedulerGroup && !validatedKinds.has(kind))
    return { note: `not checked: ${version} is not an API of Grove` }
  if (known && `${known.group}/${known.version}` === version)
    return { note: `not checked: objects of kind ${kind} are created by the operator` }
  if (known) return rejected(`kind ${kind} is served as ${known.group}/${known.version}, not ${version}`)
  return rejected(`unknown kind ${kind} of ${version}${suggestion(kind)}`)
}

function suggestion(kind: string): string {
  const known = Object.values(kinds)
  const short = known.find(({ shortName }) => shortName === kind.toLowerCase())
  const meant =
    short?.kind ??
    similarName(
      kind,
      known.map(candidate => candidate.kind),
    )
  return meant ? `; did you mean ${meant}?` : ''
}

function rejected(message: string): Pick<CheckedDocument, 'response'> {
  return { response: { allowed: false, code: 400, reason: 'BadRequest', message, warnings: [] } }
}
