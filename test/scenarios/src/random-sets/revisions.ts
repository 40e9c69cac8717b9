// SPDX-License-Identifier: Apache-2.0

// Compares hash labels with the hashes of the templates.
import { label, type PodClique, podTemplateHash } from '@grove/api'
import type { KubeObject, Stored } from '@grove/kube'
import { type Observed, podsOf } from './observed.ts'

/** The hash that the set wants for a clique, given the labels of the clique or of one of its pods. */
export function wantedHash(
  { set }: Observed,
  clique: string,
  labels: Readonly<Record<string, string>> = {},
): string | undefined {
  const { template } = set.spec
  const prefix = labels[label.scalingGroup]
    ? `${labels[label.scalingGroup]}-${labels[label.scalingGroupReplicaIndex]}-`
    : `${set.metadata.name}-${labels[label.setReplicaIndex]}-`
  const found = template.cliques.find(({ name }) => prefix + name === clique)
  return found && podTemplateHash(template, found)
}

export function hashOf({ metadata }: KubeObject): string | undefined {
  return metadata?.labels?.[label.podTemplateHash]
}

/** The pods of a clique that have its template. */
export function updatedPods(seen: Observed, clique: Stored<PodClique>): number {
  return podsOf(seen, clique.metadata.name).filter(pod => hashOf(pod) === hashOf(clique)).length
}

/** The clique has the wanted template, and so have all of its pods. */
export function isUpToDate(seen: Observed, clique: Stored<PodClique>): boolean {
  const { name, labels } = clique.metadata
  return (
    hashOf(clique) === wantedHash(seen, name, labels) &&
    updatedPods(seen, clique) === podsOf(seen, name).length
  )
}
