// SPDX-License-Identifier: Apache-2.0

import { createHash } from 'node:crypto'
import { semanticallyEqual } from '@grove/apimachinery'
import type { Stored } from '@grove/kube'
import type { Deployment, ReplicaSet } from '../kinds.ts'

export const revisionAnnotation = 'deployment.kubernetes.io/revision'
const desiredAnnotation = 'deployment.kubernetes.io/desired-replicas'
const maxAnnotation = 'deployment.kubernetes.io/max-replicas'
const hashLabel = 'pod-template-hash'

type Template = NonNullable<Deployment['spec']>['template']

/** Annotations that are not copied to ReplicaSets, because they belong to the Deployment itself. */
const ownAnnotations = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  revisionAnnotation,
  desiredAnnotation,
  maxAnnotation,
])

/** Returns the ReplicaSet of the current template; the oldest if there are several. */
export function currentSet(
  deployment: Stored<Deployment>,
  sets: readonly Stored<ReplicaSet>[],
): Stored<ReplicaSet> | undefined {
  return [...sets]
    .sort((a, b) => ((a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? -1 : 1))
    .find(set => sameTemplate(set.spec?.template, deployment.spec?.template))
}

function sameTemplate(a: Template, b: Template): boolean {
  return semanticallyEqual(withoutHash(a), withoutHash(b))
}

function withoutHash(template: Template): Template {
  const { [hashLabel]: _, ...labels } = template?.metadata?.labels ?? {}
  return { ...template, metadata: { ...template?.metadata, labels, creationTimestamp: undefined } }
}

export function revisionOf({ metadata }: Pick<Stored<ReplicaSet>, 'metadata'>): number {
  return Number(metadata.annotations?.[revisionAnnotation] ?? 0) || 0
}

export function newestRevision(sets: readonly Stored<ReplicaSet>[]): number {
  return Math.max(0, ...sets.map(revisionOf))
}

/** Returns a short name for a template, without vowels. It changes after a collision. */
function templateHash(deployment: Stored<Deployment>): string {
  const text = JSON.stringify([deployment.spec?.template, deployment.status?.collisionCount ?? 0])
  const alphabet = 'bcdfghjklmnpqrstvwxz2456789'
  const digest = createHash('sha256').update(text).digest()
  return [...digest.subarray(0, 10)].map(byte => alphabet[byte % alphabet.length]).join('')
}

export function newReplicaSet(
  deployment: Stored<Deployment>,
  revision: number,
  replicas: number,
  most: number,
): ReplicaSet {
  const { name, namespace, uid } = deployment.metadata
  const { template, selector, minReadySeconds } = deployment.spec ?? {}
  const hash = templateHash(deployment)
  const labels = { ...template?.metadata?.labels, [hashLabel]: hash }
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: `${name}-${hash}`,
      namespace,
      labels,
      annotations: setAnnotations(deployment, revision, most),
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'Deployment', name, uid, controller: true, blockOwnerDeletion: true },
      ],
    },
    spec: {
      replicas,
      ...(minReadySeconds && { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector?.matchLabels, [hashLabel]: hash } },
      template: { ...template, metadata: { ...template?.metadata, labels } },
    },
  }
}

export function setAnnotations(
  deployment: Stored<Deployment>,
  revision: number,
  most: number,
): Record<string, string> {
  const copied = Object.entries(deployment.metadata.annotations ?? {}).filter(
    ([key]) => !ownAnnotations.has(key),
  )
  return {
    ...Object.fromEntries(copied),
    [revisionAnnotation]: String(revision),
    [desiredAnnotation]: String(deployment.spec?.replicas ?? 1),
    [maxAnnotation]: String(most),
  }
}
