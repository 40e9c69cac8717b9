// SPDX-License-Identifier: Apache-2.0

// Complete pods for tests: the standalone pod, and pods built from a set through the PodClique of its template.
import {
  type CliqueTemplate,
  defaultConfiguration,
  type OperatorConfiguration,
  type PodSpec,
} from '@grove/api'
import { groupReplicasFromTemplate, podGangs } from '../layout/layout.ts'
import type { NewPod, StoredClique, StoredSet } from '../layout/stored.ts'
import { podClique } from '../objects/clique.ts'
import { pod } from '../objects/pod.ts'
import { schedulerBackends } from '../schedulers/registry.ts'
import { clique, sampleSet } from './sample-set.ts'

const backends = schedulerBackends(
  ['default-scheduler', 'volcano', 'grove-scheduler', 'kubernetes'],
  'default-scheduler',
)

export interface Given {
  readonly set: StoredSet
  readonly clique?: string
  readonly index?: number
  readonly configuration?: Partial<OperatorConfiguration>
  readonly waiterImage?: string
}

/** Builds the pod of a set, through the PodClique that is built from its template. */
export function podIn({ set, clique: name = 'w-0-a', index = 0, configuration, ...rest }: Given): NewPod {
  const instance = podGangs(set, groupReplicasFromTemplate)
    .flatMap(gang => gang.cliques)
    .find(candidate => candidate.name === name)!
  const made = podClique(set, instance, set, 'h1') as StoredClique
  const stored = { ...made, metadata: { ...made.metadata, uid: 'clique-uid' } }
  const backend = backends.find(stored.spec.podSpec.schedulerName)!
  return pod(
    {
      set,
      clique: stored,
      instance,
      backend,
      configuration: { ...defaultConfiguration(), ...configuration },
      waiterImage: 'grove-initc:v1',
      ...rest,
    },
    index,
  )
}

export const env = [
  { name: 'GROVE_PCS_NAME', value: 'w' },
  { name: 'GROVE_PCS_INDEX', value: '0' },
  { name: 'GROVE_PCLQ_NAME', value: 'w-0-a' },
  { name: 'GROVE_HEADLESS_SERVICE', value: 'w-0.serving.svc.cluster.local' },
  {
    name: 'GROVE_PCLQ_POD_INDEX',
    valueFrom: { fieldRef: { fieldPath: "metadata.labels['grove.io/podclique-pod-index']" } },
  },
]
export const main = { name: 'main', image: 'registry.example/main:1', env }

export const plain = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    generateName: 'w-0-a-',
    namespace: 'serving',
    labels: {
      'app.kubernetes.io/managed-by': 'grove-operator',
      'app.kubernetes.io/part-of': 'w',
      'app.kubernetes.io/component': 'pcs-podclique',
      'app.kubernetes.io/name': 'w-0-a',
      'grove.io/podcliqueset-replica-index': '0',
      'grove.io/podgang': 'w-0',
      'grove.io/pod-template-hash': 'h1',
      'grove.io/podclique': 'w-0-a',
      'grove.io/podclique-pod-index': '0',
    },
    ownerReferences: [
      {
        apiVersion: 'grove.io/v1alpha1',
        kind: 'PodClique',
        name: 'w-0-a',
        uid: 'clique-uid',
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  },
  spec: {
    containers: [main],
    schedulingGates: [{ name: 'grove.io/podgang-pending-creation' }],
    schedulerName: 'default-scheduler',
    hostname: 'w-0-a-0',
    subdomain: 'w-0',
  },
}

export interface Change {
  readonly labels?: object
  readonly metadata?: object
  readonly spec?: object
}

export function plainBut({ labels, metadata, spec }: Change): object {
  return {
    ...plain,
    metadata: { ...plain.metadata, labels: { ...plain.metadata.labels, ...labels }, ...metadata },
    spec: { ...plain.spec, ...spec },
  }
}

/** A set of one clique `a` with this pod spec. */
export function withPodSpec(podSpec: Partial<PodSpec>, template: Partial<CliqueTemplate> = {}): StoredSet {
  const bare = clique('a')
  return sampleSet({
    cliques: [
      {
        ...bare,
        ...template,
        spec: { ...bare.spec, podSpec: { ...bare.spec.podSpec, ...podSpec } as PodSpec },
      },
    ],
  })
}
