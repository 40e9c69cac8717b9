// SPDX-License-Identifier: Apache-2.0

/** The result of a lookup in the cluster. "Not found" and "lookup failed" are different results. */
export type Lookup<T> =
  | { readonly outcome: 'found'; readonly value: T }
  | { readonly outcome: 'notFound' }
  | { readonly outcome: 'failed'; readonly error: string }

/**
 * The part of a cluster that validation rules read. It is synchronous: the webhook server fetches the result of
 * `clusterNeeds` first, so rules never wait.
 */
export interface ClusterView {
  /** The domains of a ClusterTopologyBinding, broadest first. */
  topologyDomains(binding: string): Lookup<readonly string[]>
  /** `status.state` of a Volcano queue. */
  volcanoQueueState(queue: string): Lookup<string>
}

/** A cluster without topology bindings and queues. */
export const emptyCluster: ClusterView = {
  topologyDomains: () => ({ outcome: 'notFound' }),
  volcanoQueueState: () => ({ outcome: 'notFound' }),
}
