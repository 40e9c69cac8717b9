// SPDX-License-Identifier: Apache-2.0

// Which pods a request of the operator takes down, as the cluster stands when it comes.
import { label, type Pod } from '@grove/api'
import { matchesLabels, parseLabelSelector } from '@grove/apimachinery'
import type { Stored } from '@grove/kube'
import type { OperatorRequest } from './faults.ts'

export interface Deletion {
  readonly namespace: string
  /** One pod, or everything that labels select. */
  readonly isCollection: boolean
  readonly resource: 'pods' | 'podcliques'
  selects(pod: Pod): boolean
}

const path = /\/namespaces\/([^/]+)\/(pods|podcliques)(?:\/([^/?]+))?(?:\?(.*))?$/

/** Undefined for what is no deletion of pods or of what holds them. */
export function deletionOf(request: OperatorRequest): Deletion | undefined {
  const [, namespace, resource, name, query] = path.exec(request.path) ?? []
  if (request.method !== 'DELETE' || !namespace) return undefined
  const common = { namespace, resource: resource as Deletion['resource'] }
  if (name)
    return {
      ...common,
      isCollection: false,
      selects: ({ metadata }) =>
        resource === 'pods' ? metadata.name === name : metadata.labels?.[label.podClique] === name,
    }
  const parsed = parseLabelSelector(new URLSearchParams(query).get('labelSelector') ?? '')
  if (!parsed.ok) throw new Error(parsed.error)
  return {
    ...common,
    isCollection: true,
    selects: ({ metadata }) => matchesLabels(parsed.selector, metadata.labels ?? {}),
  }
}

/** Whether a pod is there to be taken down: not going already, and not at its end. */
export function isStanding(pod: Stored<Pod>): boolean {
  const { phase } = pod.status ?? {}
  return !pod.metadata.deletionTimestamp && phase !== 'Failed' && phase !== 'Succeeded'
}

export const indexOf = (pod: Pod) => pod.metadata.labels?.[label.podIndex] ?? ''
export const cliqueOf = (pod: Pod) => pod.metadata.labels?.[label.podClique] ?? ''
export const groupOf = (pod: Pod) => pod.metadata.labels?.[label.scalingGroup]
export const groupReplicaOf = (pod: Pod) => pod.metadata.labels?.[label.scalingGroupReplicaIndex] ?? ''
export const setReplicaOf = (pod: Pod) => pod.metadata.labels?.[label.setReplicaIndex] ?? ''
