// SPDX-License-Identifier: Apache-2.0

/** What looking something up in a cluster gave. "Not there" and "could not be asked" are different answers. */
export type Lookup<T> =
  | { readonly outcome: 'found'; readonly value: T }
  | { readonly outcome: 'notFound' }
  | { readonly outcome: 'failed'; readonly error: string }

/**
 * The part of a cluster that admission rules may ask about. Answers are immediate: whoever serves requests collects
 * what `clusterNeeds` names beforehand, so the rules themselves never wait.
 */
export interface ClusterView {
  /** The domains of a ClusterTopologyBinding in their order, broadest first. */
  topologyDomains(binding: string): Lookup<readonly string[]>
  /** `status.state` of a Volcano queue. */
  volcanoQueueState(queue: string): Lookup<string>
}

/** A cluster that holds neither topology bindings nor queues. */
export const emptyCluster: ClusterView = {
  topologyDomains: () => ({ outcome: 'notFound' }),
  volcanoQueueState: () => ({ outcome: 'notFound' }),
}
