// SPDX-License-Identifier: Apache-2.0

import { annotation, label, scheduler } from '@grove/api'
import { trimSpace } from '@grove/apimachinery'
import { controlledBy } from '../layout/owner.ts'
import type { StoredGang, StoredSet } from '../layout/stored.ts'
import { conditionMessage, type SchedulerBackend, type SchedulerObject } from './backend.ts'

const defaultQueue = 'default'

/** One PodGroup per gang, of the same name, with a policy per clique. Needs Volcano 1.14 or newer. */
export const volcanoScheduler: SchedulerBackend = {
  name: scheduler.volcano,
  topologyAware: false,
  gatesPods: true,

  preparePod: (pod, { podGang }) => ({
    ...pod,
    metadata: {
      ...pod.metadata,
      annotations: {
        ...pod.metadata.annotations,
        [annotation.volcanoGroupName]: podGang,
        [annotation.kubernetesGroupName]: podGang,
      },
    },
  }),

  objectsFor: (gang, { set }) => [podGroup(gang, set)],

  unschedulableMessage: object => conditionMessage(object, 'conditions', 'Unschedulable'),
}

function podGroup(gang: StoredGang, set: StoredSet): SchedulerObject {
  const minimum = gang.spec.podgroups.reduce((sum, group) => sum + group.minReplicas, 0)
  return {
    apiVersion: 'scheduling.volcano.sh/v1beta1',
    kind: 'PodGroup',
    metadata: {
      name: gang.metadata.name,
      namespace: gang.metadata.namespace,
      labels: { ...gang.metadata.labels },
      ownerReferences: controlledBy(gang),
    },
    spec: {
      minMember: Math.max(1, minimum),
      queue: volcanoQueue(set),
      priorityClassName: gang.spec.priorityClassName || undefined,
      subGroupPolicy: gang.spec.podgroups.map(group => ({
        name: group.name,
        labelSelector: { matchLabels: { [label.podClique]: group.name } },
        matchLabelKeys: [label.podClique],
        subGroupSize: Math.max(1, group.minReplicas),
        minSubGroups: 1,
      })),
    },
  }
}

/** The set's queue, or that of its cliques. Admission ensures that they agree. */
function volcanoQueue(set: StoredSet): string {
  const tagged = [set.metadata, ...set.spec.template.cliques]
  const queues = tagged.map(object => trimSpace(object.annotations?.[annotation.volcanoQueue] ?? ''))
  return queues.find(queue => queue) ?? defaultQueue
}
