// SPDX-License-Identifier: Apache-2.0

// Reads PodCliqueSets from manifests in the form in which the API server would store them.
import { admit, type ClusterView, emptyCluster, type OperatorConfiguration } from '@grove/api'
import { CommandError } from '../command-error.ts'
import { printNote } from '../terminal/print.ts'
import type { ManifestDocument } from './manifest.ts'
import { isObject, kindOf } from './manifest-value.ts'

export interface SetManifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace: string }
  readonly spec: Readonly<Record<string, unknown>>
}

/** The sets among the documents. Throws if there is none. */
export function setsAmong(documents: readonly ManifestDocument[]): ManifestDocument[] {
  const sets = documents.filter(document => kindOf(document) === 'PodCliqueSet')
  if (sets.length === 0) {
    const found = [...new Set(documents.map(kindOf))].filter(kind => kind !== '')
    throw new CommandError(
      `no PodCliqueSet in ${sourcesOf(documents)}${found.length ? `, only ${found.join(', ')}` : ''}`,
    )
  }
  return sets
}

/** The set with its defaults. Throws an error with the position if admission rejects it. */
export function storedSet(
  document: ManifestDocument,
  configuration: OperatorConfiguration,
  cluster: ClusterView = emptyCluster,
): SetManifest {
  const response = admit(
    { operation: 'CREATE', kind: 'PodCliqueSet', object: document.value },
    { configuration, cluster },
  )
  if (!response.allowed)
    throw new CommandError(
      `${document.source}:${document.line}: ${response.message ?? 'rejected by admission'}`,
      1,
    )
  for (const warning of response.warnings)
    printNote(`warning: ${document.source}:${document.line}: ${warning}`)
  return response.object as SetManifest
}

function sourcesOf(documents: readonly ManifestDocument[]): string {
  return [...new Set(documents.map(document => document.source))].join(', ') || 'the input'
}

/** Stored sets have fields that new ones must not have, so they are used unchanged. Others go through admission. */
export function storedOrGiven(
  document: ManifestDocument,
  configuration: OperatorConfiguration,
  cluster: ClusterView,
): SetManifest {
  const { value } = document
  const isStored = isObject(value) && isObject(value.metadata) && typeof value.metadata.uid === 'string'
  return isStored ? (value as unknown as SetManifest) : storedSet(document, configuration, cluster)
}
