// SPDX-License-Identifier: Apache-2.0

import type { CliqueTemplate, PodCliqueSet, ScalingGroupTemplate } from '../types/index.ts'

const defaultTerminationDelay = '4h0m0s'
const defaultGracePeriodSeconds = 30

/**
 * Fills in what the schema cannot: values that depend on others, and those inside the pod specification. Only what is
 * absent is filled; the argument is left alone, and the result shares with it all that stayed the same.
 * `namespace` is that of the request.
 */
export function defaultPodCliqueSet(set: PodCliqueSet, namespace = 'default'): PodCliqueSet {
  const { template } = set.spec
  const filled = {
    ...template,
    cliques: template.cliques.map(defaultClique),
    terminationDelay: template.terminationDelay ?? defaultTerminationDelay,
    headlessServiceConfig: template.headlessServiceConfig ?? { publishNotReadyAddresses: true },
  }
  if (template.podCliqueScalingGroups) {
    filled.podCliqueScalingGroups = template.podCliqueScalingGroups.map(defaultScalingGroup)
  }
  return {
    ...set,
    metadata: set.metadata.namespace?.trim() ? set.metadata : { ...set.metadata, namespace },
    spec: { ...set.spec, template: filled },
  }
}

function defaultClique(clique: CliqueTemplate): CliqueTemplate {
  const { spec } = clique
  const { podSpec, autoScalingConfig } = spec
  const replicas = spec.replicas || 1
  const filled = {
    ...spec,
    podSpec: {
      ...podSpec,
      restartPolicy: podSpec.restartPolicy?.trim() ? podSpec.restartPolicy : 'Always',
      terminationGracePeriodSeconds: podSpec.terminationGracePeriodSeconds ?? defaultGracePeriodSeconds,
    },
    replicas,
    minAvailable: spec.minAvailable ?? replicas,
  }
  if (autoScalingConfig) {
    filled.autoScalingConfig = {
      ...autoScalingConfig,
      minReplicas: autoScalingConfig.minReplicas ?? replicas,
    }
  }
  return { ...clique, spec: filled }
}

function defaultScalingGroup(group: ScalingGroupTemplate): ScalingGroupTemplate {
  const { scaleConfig, replicas } = group
  if (!scaleConfig || scaleConfig.minReplicas !== undefined || replicas === undefined) return group
  return { ...group, scaleConfig: { ...scaleConfig, minReplicas: replicas } }
}
