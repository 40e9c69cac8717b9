// SPDX-License-Identifier: Apache-2.0

// PodCliqueSets for tests of admission rules. They are valid, so that a test contains only its own mistake.

import { renderFieldError } from '@grove/apimachinery'
import type { ClusterView } from '../admission/cluster-view.ts'
import { defaultPodCliqueSet } from '../admission/defaulting.ts'
import {
  type ValidationOutcome,
  validateChangedPodCliqueSet,
  validateNewPodCliqueSet,
} from '../admission/podcliqueset/validate.ts'
import { defaultConfiguration, type OperatorConfiguration } from '../configuration/index.ts'
import type { ObjectMeta } from '../kubernetes/index.ts'
import type { CliqueTemplate, PodCliqueSet, PodCliqueSetTemplate, PodCliqueSpec } from '../types/index.ts'

export function clique(
  name: string,
  spec: Partial<PodCliqueSpec> = {},
  rest: Partial<CliqueTemplate> = {},
): CliqueTemplate {
  return {
    name,
    ...rest,
    spec: {
      roleName: `${name}-role`,
      replicas: 2,
      podSpec: { containers: [{ name: 'main', image: 'example.com/main:1' }] },
      ...spec,
    },
  }
}

/** A set named `demo` in namespace `work`, with all defaults. */
export function sampleSet(
  template: Partial<PodCliqueSetTemplate> = {},
  metadata: Partial<ObjectMeta> = {},
  spec: Partial<PodCliqueSet['spec']> = {},
): PodCliqueSet {
  return defaultPodCliqueSet({
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueSet',
    metadata: { name: 'demo', namespace: 'work', ...metadata },
    spec: {
      replicas: 1,
      ...spec,
      template: {
        cliques: [clique('web')],
        cliqueStartupType: 'CliqueStartupTypeAnyOrder',
        ...template,
      },
    },
  })
}

/** Bindings `site` (region … host) and `annex` (zone, host). Queues `default` and `batch`, open, and `shut`. */
export const sampleCluster: ClusterView = {
  topologyDomains(binding) {
    if (binding === 'site') return { outcome: 'found', value: ['region', 'zone', 'block', 'rack', 'host'] }
    if (binding === 'annex') return { outcome: 'found', value: ['zone', 'host'] }
    return binding === 'broken' ? { outcome: 'failed', error: 'timeout' } : { outcome: 'notFound' }
  },
  volcanoQueueState(queue) {
    if (queue === 'default' || queue === 'batch') return { outcome: 'found', value: 'Open' }
    if (queue === 'shut') return { outcome: 'found', value: 'Closed' }
    return queue === 'broken' ? { outcome: 'failed', error: 'timeout' } : { outcome: 'notFound' }
  },
}

export interface Settings {
  readonly topology?: boolean
  readonly mnnvl?: boolean
  /** Enabled schedulers in addition to default-scheduler. The first is the default. */
  readonly schedulers?: readonly string[]
  readonly allowedTemplateNamespaces?: readonly string[]
}

export function configurationWith(settings: Settings = {}): OperatorConfiguration {
  const names = [...(settings.schedulers ?? []), 'default-scheduler']
  return {
    ...defaultConfiguration(),
    topologyAwareScheduling: { enabled: settings.topology ?? false },
    network: { ...defaultConfiguration().network, autoMNNVLEnabled: settings.mnnvl ?? false },
    scheduler: { profiles: names.map(name => ({ name })), defaultProfileName: names[0]! },
    ...(settings.allowedTemplateNamespaces && {
      resourceSharing: { allowedTemplateNamespaces: settings.allowedTemplateNamespaces },
    }),
  }
}

export function validateNew(set: PodCliqueSet, settings: Settings = {}): ValidationOutcome {
  return validateNewPodCliqueSet(set, { configuration: configurationWith(settings), cluster: sampleCluster })
}

/** Returns the messages of all errors of a new set. */
export function errorsOf(set: PodCliqueSet, settings: Settings = {}): string[] {
  return validateNew(set, settings).errors.map(renderFieldError)
}

export function validateUpdate(
  set: PodCliqueSet,
  old: PodCliqueSet,
  settings: Settings = {},
): ValidationOutcome {
  return validateChangedPodCliqueSet(set, old, {
    configuration: configurationWith(settings),
    cluster: sampleCluster,
  })
}

/** Returns the messages of all errors of an update from `old` to `set`. */
export function updateErrorsOf(set: PodCliqueSet, old: PodCliqueSet, settings: Settings = {}): string[] {
  return validateUpdate(set, old, settings).errors.map(renderFieldError)
}
