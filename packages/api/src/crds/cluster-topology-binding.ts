// SPDX-License-Identifier: Apache-2.0

import { kinds } from '../kinds.ts'
import type {
  ClusterTopologyBindingSpec,
  ClusterTopologyBindingStatus,
  SchedulerTopologyBinding,
  SchedulerTopologyStatus,
  TopologyLevel,
} from '../types/index.ts'
import { conditions } from './condition.ts'
import { type Definition, textColumn } from './definition.ts'
import { boolean, int64, list, object, required, string } from './schema.ts'
import { domainFormat } from './topology-constraint.ts'

/** A node label key: a name of up to 63 characters, with or without a prefix of up to 253. */
const labelKeyFormat = {
  minLength: 1,
  maxLength: 317,
  pattern: '^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$',
} as const

const level = object<TopologyLevel>('A level of the topology.', {
  domain: required(string('How workloads call the level: zone, block, rack, host, …', domainFormat)),
  key: required(string('Key of the node label whose value tells the domain of a node.', labelKeyFormat)),
})

const schedulerTopologyBinding = object<SchedulerTopologyBinding>('A topology object of a scheduler.', {
  schedulerName: required(string('Name of the scheduler, for example kai-scheduler.')),
  topologyReference: required(string('Name of its topology object.')),
})

const spec = object<ClusterTopologyBindingSpec>('The topology of the cluster.', {
  levels: required(
    list('Levels of the topology, the broadest first. Domains and keys are unique.', level, { minItems: 1 }),
  ),
  schedulerTopologyBindings: list(
    'Topology objects of schedulers that are managed elsewhere: they are compared with the levels, never changed. For a scheduler that is not listed the operator makes the object itself.',
    schedulerTopologyBinding,
  ),
})

const schedulerTopologyStatus = object<SchedulerTopologyStatus>('The topology object of one scheduler.', {
  schedulerName: required(string('Name of the scheduler.')),
  topologyReference: required(string('Name of its topology object.')),
  inSync: required(boolean('Whether it has the levels of this binding.')),
  schedulerBackendTopologyObservedGeneration: int64(
    'Generation of the topology object that was compared; only for objects that are managed elsewhere.',
  ),
  message: string('Why it is not in sync.'),
})

export const clusterTopologyBinding: Definition = {
  kind: kinds.clusterTopologyBinding,
  description:
    'ClusterTopologyBinding gives names to the levels of the network topology, by node labels, so that workloads can ask to be packed into one of them, and keeps the topology objects of schedulers in step.',
  columns: [textColumn('Domains', '.spec.levels[*].domain')],
  spec,
  status: object<ClusterTopologyBindingStatus>('What the operator observed.', {
    observedGeneration: int64('Generation of the object that was carried out without an error.'),
    conditions,
    schedulerTopologyStatuses: list(
      'How the topology objects of the schedulers stand.',
      schedulerTopologyStatus,
    ),
  }),
}
