// SPDX-License-Identifier: Apache-2.0

// A set with one clique, one gang and its pods, as the API server returns them.
import { apiVersion, label, schedulerApiVersion } from '@grove/api'
import type { KubeObject } from '@grove/kube'

export interface SetParts {
  readonly namespace: string
  readonly name: string
  readonly pods: number
  readonly readyPods: number
  /** Message of the condition that says why the gang is not scheduled. Undefined: it is scheduled. */
  readonly gangMessage?: string
}

export interface SetManifests {
  readonly set: KubeObject
  readonly clique: KubeObject
  readonly gang: KubeObject
  readonly pods: readonly KubeObject[]
}

const time = '2030-01-01T00:00:00Z'

export function setManifests({ namespace, name, pods, readyPods, gangMessage }: SetParts): SetManifests {
  const managed = {
    [label.managedBy]: 'grove-operator',
    [label.partOf]: name,
    [label.setReplicaIndex]: '0',
  }
  const clique = `${name}-0-web`
  const gang = `${name}-0`
  const podSpec = { containers: [{ name: 'main', image: 'registry.example/web:1' }] }
  const cliqueSpec = { roleName: 'web', replicas: pods, minAvailable: 1, podSpec }
  const metadata = (own: string, labels: Record<string, string>) => ({
    name: own,
    namespace,
    labels: { ...managed, ...labels },
  })
  const isAvailable = readyPods >= pods
  return {
    set: {
      apiVersion,
      kind: 'PodCliqueSet',
      metadata: { name, namespace },
      spec: { replicas: 1, template: { cliques: [{ name: 'web', spec: cliqueSpec }] } },
      status: {
        observedGeneration: 1,
        replicas: 1,
        availableReplicas: isAvailable ? 1 : 0,
        updatedReplicas: isAvailable ? 1 : 0,
      },
    } as KubeObject,
    clique: {
      apiVersion,
      kind: 'PodClique',
      metadata: metadata(clique, { [label.podGang]: gang }),
      spec: cliqueSpec,
      status: { replicas: pods, readyReplicas: readyPods, scheduledReplicas: readyPods },
    } as KubeObject,
    gang: {
      apiVersion: schedulerApiVersion,
      kind: 'PodGang',
      metadata: metadata(gang, {}),
      spec: { podgroups: [{ name: clique, podReferences: [], minReplicas: 1 }] },
      status:
        gangMessage === undefined
          ? { phase: 'Running', placementScore: 0.75 }
          : {
              phase: 'Pending',
              conditions: [
                {
                  type: 'Scheduled',
                  status: 'False',
                  reason: 'InsufficientCapacity',
                  message: gangMessage,
                  lastTransitionTime: time,
                },
              ],
            },
    } as KubeObject,
    pods: Array.from({ length: pods }, (_, index) =>
      podManifest({
        metadata: {
          ...metadata(`${clique}-${index}`, { [label.podClique]: clique, [label.podGang]: gang }),
        },
        isReady: index < readyPods,
        message: gangMessage ?? '',
      }),
    ),
  }
}

function podManifest({
  metadata,
  isReady,
  message,
}: {
  metadata: object
  isReady: boolean
  message: string
}): KubeObject {
  const scheduled = isReady
    ? { type: 'PodScheduled', status: 'True' }
    : { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: {
      containers: [
        {
          name: 'main',
          image: 'registry.example/web:1',
          resources: { requests: { 'nvidia.com/gpu': '2' }, limits: { 'nvidia.com/gpu': '2' } },
        },
      ],
      ...(isReady && { nodeName: 'node-0' }),
    },
    status: {
      phase: isReady ? 'Running' : 'Pending',
      conditions: [scheduled, { type: 'Ready', status: isReady ? 'True' : 'False' }],
      containerStatuses: isReady
        ? [{ name: 'main', ready: true, restartCount: 1, image: 'web', imageID: '', state: {} }]
        : [],
    },
  } as unknown as KubeObject
}
