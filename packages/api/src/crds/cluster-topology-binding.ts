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
  domain: required(string('Name of the level in workloads: zone, block, rack, host, …', domainFormat)),
  key: required(string('Key of the node label whose value is the domain of a node.', labelKeyFormat)),
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
    'Topology objects of schedulers that the operator does not manage: it compares them with the levels and never changes them. For a scheduler that is not listed the operator creates the object.',
    schedulerTopologyBinding,
  ),
})

const schedulerTopologyStatus = object<SchedulerTopologyStatus>('The topology object of one scheduler.', {
  schedulerName: required(string('Name of the scheduler.')),
  topologyReference: required(string('Name of its topology object.')),
  inSync: required(boolean('True if it has the levels of this binding.')),
  schedulerBackendTopologyObservedGeneration: int64(
    'Generation of the topology object at the last comparison. Only for objects that the operator does not manage.',
  ),
  message: string('Why it is not in sync.'),
})

export const clusterTopologyBinding: Definition = {
  kind: kinds.clusterTopologyBinding,
  description:
    'ClusterTopologyBinding names the levels of the network topology by node labels, so that workloads can request placement within one of them. The operator keeps the topology objects of schedulers in sync.',
  columns: [textColumn('Domains', '.spec.levels[*].domain')],
  spec,
  status: object<ClusterTopologyBindingStatus>('Status reported by the operator.', {
    observedGeneration: int64('Last generation that was reconciled without an error.'),
    conditions,
    schedulerTopologyStatuses: list(
      'State of the topology objects of the schedulers.',
      schedulerTopologyStatus,
    ),
  }),
}
