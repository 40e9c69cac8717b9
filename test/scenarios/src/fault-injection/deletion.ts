// SPDX-License-Identifier: Apache-2.0

// Finds the pods that a delete request of the operator affects, in the state of the cluster when the request arrives.
import { label, type Pod } from '@grove/api'
import { matchesLabels, parseLabelSelector } from '@grove/apimachinery'
import type { Stored } from '@grove/kube'
import type { OperatorRequest } from './faults.ts'

export interface Deletion {
  readonly namespace: string
  /** True for a deletecollection request, false for a single object. */
  readonly isCollection: boolean
  readonly resource: 'pods' | 'podcliques'
  selects(pod: Pod): boolean
}

const path = /\/namespaces\/([^/]+)\/(pods|podcliques)(?:\/([^/?]+))?(?:\?(.*))?$/

/** Returns undefined for requests that delete neither pods nor PodCliques. */
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

/** Reports whether a pod can still be disrupted: not terminating and not finished. */
export function isStanding(pod: Stored<Pod>): boolean {
  const { phase } = pod.status ?? {}
  return !pod.metadata.deletionTimestamp && phase !== 'Failed' && phase !== 'Succeeded'
}

export const indexOf = (pod: Pod) => pod.metadata.labels?.[label.podIndex] ?? ''
export const cliqueOf = (pod: Pod) => pod.metadata.labels?.[label.podClique] ?? ''
export const groupOf = (pod: Pod) => pod.metadata.labels?.[label.scalingGroup]
export const groupReplicaOf = (pod: Pod) => pod.metadata.labels?.[label.scalingGroupReplicaIndex] ?? ''
export const setReplicaOf = (pod: Pod) => pod.metadata.labels?.[label.setReplicaIndex] ?? ''
