// SPDX-License-Identifier: Apache-2.0

import { kinds } from '../kinds.ts'
import type {
  CliqueTemplate,
  HeadlessServiceConfig,
  PodCliqueSetSpec,
  PodCliqueSetTemplate,
  PodCliqueSetUpdateStrategy,
  ScalingGroupTemplate,
} from '../types/index.ts'
import { autoScaling } from './autoscaling.ts'
import { type Definition, integerColumn } from './definition.ts'
import { podCliqueSpec } from './pod-clique.ts'
import { podCliqueSetStatus } from './pod-clique-set-status.ts'
import {
  cliqueResourceSharing,
  podCliqueSetResourceSharing,
  resourceClaimTemplates,
  scalingGroupResourceSharing,
} from './resource-sharing.ts'
import {
  boolean,
  choice,
  duration,
  int32,
  list,
  listMap,
  object,
  required,
  string,
  stringList,
  stringMap,
} from './schema.ts'
import type { ValidationRule } from './structural-schema.ts'
import { topologyConstraint } from './topology-constraint.ts'

const cliqueTemplate = object<CliqueTemplate>('For example the prefill or the decode workers of a model.', {
  name: required(
    string('Short name, unique in the set; the last part of the names of its PodCliques and pods.'),
  ),
  labels: stringMap('Labels for the PodCliques and their pods.'),
  annotations: stringMap('Annotations for the PodCliques and their pods.'),
  topologyConstraint: topologyConstraint('Where the pods of one PodClique stand in the topology.'),
  resourceSharing: cliqueResourceSharing,
  spec: required(podCliqueSpec('The pods of the clique: what they run, how many, and when they start.')),
})

const scalingGroupTemplate = object<ScalingGroupTemplate>(
  'For example the leader and the workers of a model that spans nodes.',
  {
    name: required(string('Short name, unique in the set.')),
    cliqueNames: required(stringList('Member cliques. A clique belongs to one group at most. Immutable.')),
    annotations: stringMap('Annotations for the PodCliqueScalingGroup.'),
    replicas: int32(
      'How many copies of the member cliques exist. Counts when the group is created; scale the PodCliqueScalingGroup afterwards.',
      { default: 1 },
    ),
    minAvailable: int32(
      'How many copies are scheduled in one gang with the rest of the set and must stay available; each further copy is a gang of its own. Immutable.',
      { default: 1 },
    ),
    scaleConfig: autoScaling('Scales the group automatically.'),
    resourceSharing: scalingGroupResourceSharing,
    topologyConstraint: topologyConstraint('Where the pods of one copy of the group stand in the topology.'),
  },
)

const template = object<PodCliqueSetTemplate>('The system that each replica is a copy of.', {
  cliques: required(
    listMap(
      'The roles of the system, at least one. Their order is the start order of CliqueStartupTypeInOrder.',
      ['name'],
      cliqueTemplate,
    ),
  ),
  cliqueStartupType: choice(
    'In which order cliques start. CliqueStartupTypeAnyOrder: at once. CliqueStartupTypeInOrder: one after the other, as listed. CliqueStartupTypeExplicit: as their `startsAfter` says. Immutable.',
    ['CliqueStartupTypeAnyOrder', 'CliqueStartupTypeInOrder', 'CliqueStartupTypeExplicit'],
    { default: 'CliqueStartupTypeAnyOrder' },
  ),
  priorityClassName: string(
    'PriorityClass of the gangs. Pods keep the class that their own specification names.',
  ),
  headlessServiceConfig: object<HeadlessServiceConfig>(
    'Settings of the headless Service that each replica has for the addresses of its pods.',
    {
      publishNotReadyAddresses: required(
        boolean('Whether pods can be found by name before they are ready.', { default: true }),
      ),
    },
  ),
  topologyConstraint: topologyConstraint('Where the pods of one replica of the set stand in the topology.'),
  terminationDelay: duration(
    'How long a replica may have too few available pods before it is terminated and made again, for example `30m`. Defaults to 4h.',
  ),
  resourceClaimTemplates,
  resourceSharing: podCliqueSetResourceSharing,
  podCliqueScalingGroups: list('Groups of cliques that scale together.', scalingGroupTemplate),
})

const spec = object<PodCliqueSetSpec>('The system that is wanted.', {
  replicas: int32('How many copies of the whole system run, each with all of its gangs.', { default: 0 }),
  updateStrategy: object<PodCliqueSetUpdateStrategy>('How a changed template reaches the pods.', {
    type: choice(
      'RollingRecreate: the operator replaces pods step by step, one replica of the set at a time. OnDelete: a pod gets the new template when something else deletes it.',
      ['RollingRecreate', 'OnDelete'],
      { default: 'RollingRecreate' },
    ),
    paused: boolean(
      'While true, an update replaces nothing more. Replicas that it has not reached keep their template. RollingRecreate only.',
    ),
    partition: int32(
      'Replicas of the set with an index below this keep their template; lower it to let the update go on. RollingRecreate only.',
      { minimum: 0 },
    ),
    maxUnavailable: int32(
      'How many replicas of the set may be down for the update at the same time; 0 only together with maxSurge. Defaults to 1. RollingRecreate only.',
      { minimum: 0 },
    ),
    maxSurge: int32(
      'How many replicas the set may have beyond spec.replicas while it is updated, so that fewer are missing meanwhile. They have the indexes that follow, and go when the update ends. Defaults to 0. RollingRecreate only.',
      { minimum: 0 },
    ),
    progressDeadlineSeconds: int32(
      'How long the update of one replica may take before the condition UpdateProgressing becomes False with reason ProgressDeadlineExceeded. Nothing else follows from it. RollingRecreate only.',
      { minimum: 1 },
    ),
  }),
  template: required(template),
})

/**
 * Transition rules that look at new objects only: what was stored with `packDomain` can still be updated. An
 * optional `oldSelf` is the one way to tell a create from an update in CEL.
 */
const packDomainIsForNobodyNew: readonly ValidationRule[] = [
  onCreate(
    '.spec.template.topologyConstraint.packDomain',
    '!has(self.spec.template.topologyConstraint) || !has(self.spec.template.topologyConstraint.packDomain)',
  ),
  onCreate('.spec.template.cliques', noneSetsPackDomain('self.spec.template.cliques', 'c')),
  onCreate(
    '.spec.template.podCliqueScalingGroups',
    noneSetsPackDomain('self.spec.template.podCliqueScalingGroups', 'g'),
  ),
]

function noneSetsPackDomain(list: string, one: string): string {
  return `!has(${list}) || ${list}.all(${one}, !has(${one}.topologyConstraint) || !has(${one}.topologyConstraint.packDomain))`
}

function onCreate(fieldPath: string, mustHold: string): ValidationRule {
  return {
    rule: `oldSelf.hasValue() || ${mustHold}`,
    message: 'packDomain is deprecated and cannot be used on new workloads; use pack.required',
    reason: 'FieldValueForbidden',
    fieldPath,
    optionalOldSelf: true,
  }
}

export const podCliqueSet: Definition = {
  kind: kinds.podCliqueSet,
  description:
    'PodCliqueSet describes a multi-node inference system: its roles (cliques), which of them scale together, in which order they start, and where they stand in the topology. Each replica is gang-scheduled, updated and recovered as a whole.',
  columns: [
    integerColumn('Replicas', '.spec.replicas'),
    integerColumn('Available', '.status.availableReplicas'),
    integerColumn('Updated', '.status.updatedReplicas'),
    integerColumn('PCLQs-Updated', '.status.updateProgress.updatedPodCliquesCount'),
    integerColumn('PCLQs-Total', '.status.updateProgress.totalPodCliquesCount'),
    integerColumn('PCSGs-Updated', '.status.updateProgress.updatedPodCliqueScalingGroupsCount'),
    integerColumn('PCSGs-Total', '.status.updateProgress.totalPodCliqueScalingGroupsCount'),
  ],
  scaleSelectorPath: '.status.hpaPodSelector',
  spec,
  status: podCliqueSetStatus,
  rules: packDomainIsForNobodyNew,
}
