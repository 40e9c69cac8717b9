// SPDX-License-Identifier: Apache-2.0

import { annotation, events, label, type PodGangTopologyConstraint, scheduler } from '@grove/api'
import { controlledBy } from '../layout/owner.ts'
import type { StoredGang, StoredSet } from '../layout/stored.ts'
import {
  conditionMessage,
  type GangContext,
  GangMappingError,
  type SchedulerBackend,
  type SchedulerObject,
} from './backend.ts'

/** One PodGroup per gang, of the same name, with a subgroup per clique. Needs KAI 0.15 or newer. */
export const kaiScheduler: SchedulerBackend = {
  name: scheduler.kai,
  topologyAware: true,
  gatesPods: true,

  preparePod: (pod, { podGang, clique }) => ({
    ...pod,
    metadata: {
      ...pod.metadata,
      labels: { ...pod.metadata.labels, [label.kaiSubgroupName]: clique },
      annotations: {
        ...pod.metadata.annotations,
        [annotation.kaiSkipPodGrouper]: 'true',
        [annotation.kaiPodGroupName]: podGang,
      },
    },
  }),

  objectsFor: (gang, context) => [podGroup(gang, context)],

  mappingFailed: events.kaiMappingFailed,

  unschedulableMessage: object => conditionMessage(object, 'schedulingConditions', 'UnschedulableOnNodePool'),

  // The operator does not move a running gang to another queue.
  keepsInSpec: ['queue'],
  // KAI and its administrators move PodGroups with these labels.
  keepsLabels: [label.kaiQueue, label.kaiNodePool],
}

function podGroup(gang: StoredGang, { set, topologyReference }: GangContext): SchedulerObject {
  const topology =
    topologyReference ||
    gang.metadata.annotations?.[annotation.topologyName] ||
    gang.metadata.annotations?.[annotation.kaiTopology]
  const constraint = (of: PodGangTopologyConstraint | undefined) => topologyConstraint(of, topology, gang)
  const parents = (gang.spec.topologyConstraintGroupConfigs ?? []).filter(
    config => config.podGroupNames.length > 0,
  )
  const parentOf = new Map(
    parents.flatMap(config => config.podGroupNames.map(name => [name, config.name] as const)),
  )
  return {
    apiVersion: 'scheduling.run.ai/v2alpha2',
    kind: 'PodGroup',
    metadata: {
      name: gang.metadata.name,
      namespace: gang.metadata.namespace,
      labels: { ...gang.metadata.labels },
      annotations: { ...gang.metadata.annotations, [annotation.kaiSkipPodGrouper]: 'true' },
      ownerReferences: controlledBy(gang),
    },
    spec: {
      minMember: gang.spec.podgroups.reduce((sum, group) => sum + group.minReplicas, 0),
      queue: kaiQueue(set),
      priorityClassName: gang.spec.priorityClassName || undefined,
      topologyConstraint: constraint(gang.spec.topologyConstraint) ?? {},
      subGroups: [
        ...parents.map(config => ({
          name: config.name,
          minSubGroup: config.podGroupNames.length,
          ...optional('topologyConstraint', constraint(config.topologyConstraint)),
        })),
        ...gang.spec.podgroups.map(group => ({
          name: group.name,
          minMember: group.minReplicas,
          ...optional('parent', parentOf.get(group.name)),
          ...optional('topologyConstraint', constraint(group.topologyConstraint)),
        })),
      ],
    },
  }
}

function topologyConstraint(
  of: PodGangTopologyConstraint | undefined,
  topology: string | undefined,
  gang: StoredGang,
) {
  const { required, preferred } = of?.packConstraint ?? {}
  if (!required && !preferred) return undefined
  if (!topology)
    throw new GangMappingError(
      `PodGang ${gang.metadata.namespace}/${gang.metadata.name} has topology constraints but no annotation ${annotation.topologyName} that names the topology`,
    )
  return {
    topology,
    ...optional('requiredTopologyLevel', required),
    ...optional('preferredTopologyLevel', preferred),
  }
}

/** The set's queue, or the queue that all clique templates with a queue name. */
function kaiQueue(set: StoredSet): string {
  const id = `${set.metadata.namespace}/${set.metadata.name}`
  const ofSet = queueOn(set.metadata)
  const ofCliques = set.spec.template.cliques.map(template => ({
    name: template.name,
    queue: queueOn(template),
  }))
  if (ofSet) {
    const other = ofCliques.find(({ queue }) => queue && queue !== ofSet)
    if (other)
      throw new GangMappingError(
        `KAI queue on PodCliqueSet ${id} is "${ofSet}" but PodClique template "${other.name}" resolves to "${other.queue}"`,
      )
    return ofSet
  }
  const distinct = [
    ...new Set(ofCliques.map(({ queue }) => queue).filter(queue => queue !== undefined)),
  ].sort()
  if (distinct.length === 0)
    throw new GangMappingError(`no KAI queue is configured on PodCliqueSet ${id} or its PodClique templates`)
  if (distinct.length > 1)
    throw new GangMappingError(
      `conflicting KAI queues on PodCliqueSet ${id} PodClique templates: [${distinct.join(' ')}]`,
    )
  return distinct[0]!
}

interface Tagged {
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

function queueOn(object: Tagged): string | undefined {
  return object.labels?.[label.kaiQueue] || object.annotations?.[annotation.kaiQueue] || undefined
}

function optional<Key extends string, Value>(key: Key, value: Value | undefined): { [K in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { [K in Key]?: Value })
}
