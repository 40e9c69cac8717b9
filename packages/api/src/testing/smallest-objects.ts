// SPDX-License-Identifier: Apache-2.0

// The smallest objects that the schemas accept, for tests on a real API server.
import type {
  ClusterTopologyBinding,
  PodClique,
  PodCliqueScalingGroup,
  PodCliqueSet,
  PodGang,
} from '../types/index.ts'

const groveVersion = 'grove.io/v1alpha1'
const podSpec = () => ({ containers: [{ name: 'main', image: 'example.com/model' }] })

export function smallestPodCliqueSet(name: string): PodCliqueSet {
  return {
    apiVersion: groveVersion,
    kind: 'PodCliqueSet',
    metadata: { name },
    spec: {
      template: { cliques: [{ name: 'web', spec: { roleName: 'web', replicas: 1, podSpec: podSpec() } }] },
    },
  }
}

export function smallestPodClique(name: string): PodClique {
  return {
    apiVersion: groveVersion,
    kind: 'PodClique',
    metadata: { name },
    spec: { roleName: 'web', replicas: 1, podSpec: podSpec() },
  }
}

/** Without `replicas`, which has a schema default. */
export function smallestScalingGroup(name: string): PodCliqueScalingGroup {
  const spec = { cliqueNames: ['web'] } as PodCliqueScalingGroup['spec']
  return { apiVersion: groveVersion, kind: 'PodCliqueScalingGroup', metadata: { name }, spec }
}

export function smallestTopology(name: string): ClusterTopologyBinding {
  return {
    apiVersion: groveVersion,
    kind: 'ClusterTopologyBinding',
    metadata: { name },
    spec: { levels: [{ domain: 'rack', key: 'topology.example.com/rack' }] },
  }
}

export function smallestPodGang(name: string): PodGang {
  return {
    apiVersion: 'scheduler.grove.io/v1alpha1',
    kind: 'PodGang',
    metadata: { name },
    spec: { podgroups: [{ name: 'web', minReplicas: 1, podReferences: [] }] },
  }
}
