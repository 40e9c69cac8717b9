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
  name: required(string('Short name, unique in the set. Part of the names of its PodCliques and pods.')),
  labels: stringMap('Labels for the PodCliques and their pods.'),
  annotations: stringMap('Annotations for the PodCliques and their pods.'),
  topologyConstraint: topologyConstraint('Topology constraint for the pods of one PodClique.'),
  resourceSharing: cliqueResourceSharing,
  spec: required(podCliqueSpec('Pods of the clique: template, number and startup order.')),
})

const scalingGroupTemplate = object<ScalingGroupTemplate>(
  'For example the leader and the workers of a multi-node model.',
  {
    name: required(string('Short name, unique in the set.')),
    cliqueNames: required(stringList('Member cliques. A clique belongs to one group at most. Immutable.')),
    annotations: stringMap('Annotations for the PodCliqueScalingGroup.'),
    replicas: int32(
      'Number of replicas when the group is created. Afterwards scale the PodCliqueScalingGroup.',
      { default: 1 },
    ),
    minAvailable: int32(
      'Number of replicas that belong to the base gang of the set and must stay available. Each further replica is a gang of its own. Immutable.',
      { default: 1 },
    ),
    scaleConfig: autoScaling('Creates a HorizontalPodAutoscaler for the group.'),
    resourceSharing: scalingGroupResourceSharing,
    topologyConstraint: topologyConstraint('Topology constraint for the pods of one replica of the group.'),
  },
)

const template = object<PodCliqueSetTemplate>('Template of each replica.', {
  cliques: required(
    listMap(
      'The roles of the system, at least one. Their order is the start order of CliqueStartupTypeInOrder.',
      ['name'],
      cliqueTemplate,
    ),
  ),
  cliqueStartupType: choice(
    'Startup order of the cliques. CliqueStartupTypeAnyOrder: all at once. CliqueStartupTypeInOrder: one after the other, as listed. CliqueStartupTypeExplicit: by their `startsAfter`. Immutable.',
    ['CliqueStartupTypeAnyOrder', 'CliqueStartupTypeInOrder', 'CliqueStartupTypeExplicit'],
    { default: 'CliqueStartupTypeAnyOrder' },
  ),
  priorityClassName: string('PriorityClass of the gangs. Pods keep the class of their own spec.'),
  headlessServiceConfig: object<HeadlessServiceConfig>(
    'Settings of the headless Service of each replica, which provides the DNS names of its pods.',
    {
      publishNotReadyAddresses: required(
        boolean('Publishes DNS names of pods before they are ready.', { default: true }),
      ),
    },
  ),
  topologyConstraint: topologyConstraint('Topology constraint for the pods of one replica of the set.'),
  terminationDelay: duration(
    'Duration of a breach of `minAvailable` before the replica is terminated and recreated, for example `30m`. Defaults to 4h.',
  ),
  resourceClaimTemplates,
  resourceSharing: podCliqueSetResourceSharing,
  podCliqueScalingGroups: list('Groups of cliques that scale together.', scalingGroupTemplate),
})

const spec = object<PodCliqueSetSpec>('Desired state of the set.', {
  replicas: int32('Number of replicas of the whole system, each with its own gangs.', { default: 0 }),
  updateStrategy: object<PodCliqueSetUpdateStrategy>(
    'Strategy that applies a changed template to the pods.',
    {
      type: choice(
        'RollingRecreate: the operator replaces pods step by step, by default one replica of the set at a time. OnDelete: a pod gets the new template after a user or another controller deletes it.',
        ['RollingRecreate', 'OnDelete'],
        { default: 'RollingRecreate' },
      ),
      paused: boolean(
        'Pauses an update while true. Replicas that are not updated yet keep their template. RollingRecreate only.',
      ),
      partition: int32(
        'Replicas of the set with a lower index keep their template. Lower the value to continue the update. RollingRecreate only.',
        { minimum: 0 },
      ),
      maxUnavailable: int32(
        'Maximum number of replicas of the set that the update makes unavailable at the same time. 0 requires maxSurge. Defaults to 1. RollingRecreate only.',
        { minimum: 0 },
      ),
      maxSurge: int32(
        'Maximum number of replicas beyond spec.replicas during an update. They get the next indexes and are deleted when the update ends. Defaults to 0. RollingRecreate only.',
        { minimum: 0 },
      ),
      progressDeadlineSeconds: int32(
        'Maximum duration of the update of one replica. Afterwards the condition UpdateProgressing is False with reason ProgressDeadlineExceeded, and the update continues. RollingRecreate only.',
        { minimum: 1 },
      ),
    },
  ),
  template: required(template),
})

/**
 * Transition rules for new objects only: stored objects with `packDomain` can still be updated. In CEL, only an
 * optional `oldSelf` distinguishes a create from an update.
 */
const rejectPackDomainOnCreate: readonly ValidationRule[] = [
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
    'PodCliqueSet describes a multi-node inference system: its roles (cliques), which of them scale together, their startup order, and their placement in the topology. Each replica is gang-scheduled, updated and recovered as a whole.',
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
  rules: rejectPackDomainOnCreate,
}
