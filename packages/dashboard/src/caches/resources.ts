// SPDX-License-Identifier: Apache-2.0

// Every kind that the dashboard reads.
import {
  type ClusterTopologyBinding,
  kinds,
  type Node,
  type Pod,
  type PodClique,
  type PodCliqueScalingGroup,
  type PodCliqueSet,
  type PodGang,
} from '@grove/api'
import { defineResource, type KubeObject, type Resource } from '@grove/kube'

/** The fields of a core/v1 Event that the dashboard reads. */
export interface StoredEvent extends KubeObject {
  readonly involvedObject?: { readonly kind?: string; readonly name?: string; readonly namespace?: string }
  readonly type?: string
  readonly reason?: string
  readonly message?: string
  readonly count?: number
  readonly firstTimestamp?: string | null
  readonly lastTimestamp?: string | null
  readonly eventTime?: string | null
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string }
}

function core<T>(resource: string, kind: string, namespaced: boolean): Resource<T & KubeObject> {
  return defineResource<T & KubeObject>({ group: '', version: 'v1', resource, kind, namespaced })
}

export const resources = {
  podCliqueSets: defineResource<PodCliqueSet>(kinds.podCliqueSet),
  podCliqueScalingGroups: defineResource<PodCliqueScalingGroup>(kinds.podCliqueScalingGroup),
  podCliques: defineResource<PodClique>(kinds.podClique),
  podGangs: defineResource<PodGang>(kinds.podGang),
  topologyBindings: defineResource<ClusterTopologyBinding>(kinds.clusterTopologyBinding),
  pods: core<Pod>('pods', 'Pod', true),
  nodes: core<Node>('nodes', 'Node', false),
  events: core<StoredEvent>('events', 'Event', true),
} as const
