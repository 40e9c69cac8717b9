// SPDX-License-Identifier: Apache-2.0

import { type FieldError, fieldError, renderFieldError, validateObjectMeta } from '@grove/apimachinery'
import { defaultScheduler, enabledSchedulers, type OperatorConfiguration } from '../../configuration/index.ts'
import type { CliqueTemplate, PodCliqueSet } from '../../types/index.ts'
import type { ClusterView } from '../cluster-view.ts'
import { defaultPodCliqueSet } from '../defaulting.ts'
import { validateClaimTemplates } from './claim-templates.ts'
import { validateCliques } from './cliques.ts'
import { withEmptyLists } from './empty-lists.ts'
import { validateForeignClaimTemplates } from './foreign-claim-templates.ts'
import { foreseeableFailures } from './foreseeable-failures.ts'
import {
  validateClaims,
  validateCliqueComposition,
  validateScalingGroupComposition,
  validateStartupType,
} from './immutability.ts'
import { initialCountWarnings, startupOrderWarnings } from './ineffective-settings.ts'
import { validateListLengths } from './list-limits.ts'
import { mnnvlWarnings, validateMnnvlOnCreate, validateMnnvlOnUpdate } from './mnnvl.ts'
import { path } from './paths.ts'
import { restartPolicyWarnings } from './pod-spec.ts'
import { replicaLimitWarnings } from './replica-limits.ts'
import { reservedLabelWarnings } from './reserved-labels.ts'
import { internalTemplateNames, validateSetSharing } from './resource-sharing.ts'
import { validateScalingGroups } from './scaling-groups.ts'
import {
  type SchedulerProfiles,
  unenforcedConstraints,
  validateSchedulerBackend,
} from './scheduler-backends/index.ts'
import { validateTerminationDelay } from './termination-delay.ts'
import { validateTopologyOnCreate } from './topology-create.ts'
import { deprecatedDomains, validateTopologyOnUpdate } from './topology-update.ts'
import { leavesWorkloadAlone } from './unchanged.ts'
import { validateUpdateStrategy } from './update-strategy.ts'

export interface ValidationOutcome {
  /** In report order. Without errors the object is accepted. */
  readonly errors: readonly FieldError[]
  readonly warnings: readonly string[]
}

export interface ValidationContext {
  readonly configuration: OperatorConfiguration
  readonly cluster: ClusterView
}

/** Validates a new PodCliqueSet with all defaults. All errors are reported together. */
export function validateNewPodCliqueSet(given: PodCliqueSet, context: ValidationContext): ValidationOutcome {
  const set = withEmptyLists(given)
  const { configuration, cluster } = context
  const tooLong = validateListLengths(set)
  if (tooLong.length > 0) return { errors: tooLong, warnings: [] }
  const profiles = profilesOf(configuration)
  const topology = validateTopologyOnCreate(set, configuration.topologyAwareScheduling.enabled, cluster)
  const errors = [
    ...topology.errors,
    ...validateObject(set, undefined, profiles),
    ...validateMnnvlOnCreate(set, configuration.network.autoMNNVLEnabled),
    ...validateBackend(set, undefined, profiles, cluster),
  ]
  // Evaluated last, and only for otherwise valid sets, so that errors of the published API keep their text.
  const lateErrors =
    errors.length > 0
      ? []
      : [
          ...foreseeableFailures(set),
          ...validateForeignClaimTemplates(set, configuration.resourceSharing.allowedTemplateNamespaces),
        ]
  const allErrors = [...errors, ...lateErrors]
  return {
    errors: allErrors,
    warnings: [
      ...restartPolicyWarnings(set),
      ...topology.warnings,
      ...(allErrors.length > 0
        ? []
        : [
            ...reservedLabelWarnings(set),
            ...mnnvlWarnings(set),
            ...unenforcedConstraints(set, profiles),
            ...startupOrderWarnings(set),
            ...replicaLimitWarnings(set, undefined, configuration.limits),
          ]),
    ],
  }
}

/**
 * Validates an update: first the new object alone. Only if it is valid, the transition from the old object is
 * validated.
 */
export function validateChangedPodCliqueSet(
  given: PodCliqueSet,
  stored: PodCliqueSet,
  context: ValidationContext,
): ValidationOutcome {
  const set = withEmptyLists(given)
  // Defaults that a newer release adds to a stored object are not a change.
  const old = withEmptyLists(defaultPodCliqueSet(stored))
  const { configuration, cluster } = context
  if (set.metadata.deletionTimestamp) return { errors: [], warnings: [] }
  const warnings = restartPolicyWarnings(set)
  if (leavesWorkloadAlone(set, old)) return { errors: [], warnings: [...warnings, ...deprecatedDomains(set)] }
  const tooLong = validateListLengths(set, old)
  if (tooLong.length > 0) return { errors: tooLong, warnings: [] }
  const profiles = withSchedulerOf(set, old, profilesOf(configuration))
  const errors = [
    ...validateObject(set, old, profiles),
    ...validateMnnvlOnUpdate(set, old),
    ...validateBackend(set, old, profiles, cluster),
  ]
  if (errors.length > 0) return { errors, warnings }
  const topology = validateTopologyOnUpdate(set, old, configuration.topologyAwareScheduling.enabled, cluster)
  const changes = [
    ...validateCliqueComposition(set, old),
    ...validateStartupType(set, old),
    ...validateScalingGroupComposition(set, old),
    ...topology.errors,
    ...validateClaims(set, old),
  ]
  const hints =
    changes.length > 0
      ? []
      : [
          ...reservedLabelWarnings(set),
          ...mnnvlWarnings(set),
          ...foreseeableFailures(set).map(renderFieldError),
          ...startupOrderWarnings(set),
          ...initialCountWarnings(set, old),
          ...replicaLimitWarnings(set, old, configuration.limits),
        ]
  return { errors: changes, warnings: [...warnings, ...topology.warnings, ...hints] }
}

function profilesOf(configuration: OperatorConfiguration): SchedulerProfiles {
  return {
    enabledSchedulers: enabledSchedulers(configuration),
    defaultScheduler: defaultScheduler(configuration),
  }
}

/**
 * If only some cliques of a stored set name a scheduler, the default was that scheduler at creation, and it schedules
 * the whole set. A changed default does not turn it into a set with two schedulers.
 */
function withSchedulerOf(
  set: PodCliqueSet,
  old: PodCliqueSet,
  profiles: SchedulerProfiles,
): SchedulerProfiles {
  const before = new Map(old.spec.template.cliques.map(clique => [clique.name, schedulerNameOf(clique)]))
  const { cliques } = set.spec.template
  const named = cliques.map(schedulerNameOf).find(name => name !== '')
  const isUnchanged = cliques.every(clique => before.get(clique.name) === schedulerNameOf(clique))
  return named !== undefined && isUnchanged ? { ...profiles, defaultScheduler: named } : profiles
}

function schedulerNameOf({ spec }: CliqueTemplate): string {
  return spec.podSpec.schedulerName ?? ''
}

/** The rules for a single object, on create and on update. */
function validateObject(
  set: PodCliqueSet,
  old: PodCliqueSet | undefined,
  profiles: SchedulerProfiles,
): FieldError[] {
  const internalTemplates = internalTemplateNames(set)
  return [
    ...validateMetadata(set),
    ...validateReplicas(set),
    ...validateStartup(set),
    ...validateClaimTemplates(set),
    ...validateSetSharing(set, internalTemplates),
    ...validateCliques(set, { ...profiles, internalTemplates, old }),
    ...validateScalingGroups(set, internalTemplates),
    ...validateTerminationDelay(set),
    ...validateUpdateStrategy(set),
  ]
}

/** An API server checks this earlier. Callers without an API server need it here. */
function validateMetadata(set: PodCliqueSet): FieldError[] {
  return validateObjectMeta(set.metadata, { namespaced: true })
}

function validateReplicas({ spec: { replicas = 0 } }: PodCliqueSet): FieldError[] {
  if (replicas >= 0) return []
  return [fieldError.invalid('spec.replicas', replicas, 'must be greater than or equal to 0')]
}

const startupTypes: readonly string[] = [
  'CliqueStartupTypeAnyOrder',
  'CliqueStartupTypeInOrder',
  'CliqueStartupTypeExplicit',
]

function validateStartup({ spec: { template } }: PodCliqueSet): FieldError[] {
  const field = `${path.template}.cliqueStartupType`
  const type = template.cliqueStartupType
  if (type === undefined) return [fieldError.required(field, 'field is required')]
  if (startupTypes.includes(type)) return []
  return [fieldError.invalid(field, type, `can only be one of ${startupTypes.join(', ')}`)]
}

/** Without cliques no scheduler can be named, and the missing cliques are reported already. */
function validateBackend(
  set: PodCliqueSet,
  old: PodCliqueSet | undefined,
  profiles: SchedulerProfiles,
  cluster: ClusterView,
): FieldError[] {
  return set.spec.template.cliques.length === 0 ? [] : validateSchedulerBackend(set, old, profiles, cluster)
}
