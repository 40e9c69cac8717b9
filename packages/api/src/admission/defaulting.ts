// SPDX-License-Identifier: Apache-2.0

import { semanticallyEqual } from '@grove/apimachinery'
import type { AutoScalingConfig, CliqueTemplate, PodCliqueSet, ScalingGroupTemplate } from '../types/index.ts'

const defaultTerminationDelay = '4h0m0s'
const defaultGracePeriodSeconds = 30

/**
 * Fills in what the schema cannot: values that depend on others, and those inside the pod specification. Only what is
 * absent is filled; the argument is left alone, and the result shares with it all that stayed the same.
 * `namespace` is that of the request; on an update `old` is what is stored: what may not change is taken from there.
 */
export function defaultPodCliqueSet(
  set: PodCliqueSet,
  namespace = 'default',
  old?: PodCliqueSet,
): PodCliqueSet {
  const { template } = set.spec
  const oldCliques = byName(old?.spec.template.cliques)
  const filled = {
    ...template,
    cliques: template.cliques.map(clique => defaultClique(clique, oldCliques.get(clique.name))),
    terminationDelay: template.terminationDelay ?? defaultTerminationDelay,
    headlessServiceConfig: template.headlessServiceConfig ?? { publishNotReadyAddresses: true },
  }
  if (template.podCliqueScalingGroups) {
    const oldGroups = byName(old?.spec.template.podCliqueScalingGroups)
    filled.podCliqueScalingGroups = template.podCliqueScalingGroups.map(group =>
      defaultScalingGroup(group, oldGroups.get(group.name)),
    )
  }
  return {
    ...set,
    metadata: set.metadata.namespace?.trim() ? set.metadata : { ...set.metadata, namespace },
    spec: { ...set.spec, template: filled },
  }
}

/** Of entries with the same name, which no accepted object has, the first counts. */
function byName<T extends { readonly name: string }>(entries: readonly T[] = []): Map<string, T> {
  return new Map(entries.toReversed().map(entry => [entry.name, entry]))
}

function defaultClique(clique: CliqueTemplate, old: CliqueTemplate | undefined): CliqueTemplate {
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
    minAvailable: spec.minAvailable ?? old?.spec.minAvailable ?? replicas,
  }
  if (autoScalingConfig) {
    filled.autoScalingConfig = {
      ...autoScalingConfig,
      minReplicas:
        autoScalingConfig.minReplicas ??
        keptMinimum(autoScalingConfig, old?.spec.autoScalingConfig) ??
        replicas,
    }
  }
  return { ...clique, spec: filled }
}

function defaultScalingGroup(
  group: ScalingGroupTemplate,
  old: ScalingGroupTemplate | undefined,
): ScalingGroupTemplate {
  const { scaleConfig, replicas } = group
  if (!scaleConfig || scaleConfig.minReplicas !== undefined) return group
  const minReplicas = keptMinimum(scaleConfig, old?.scaleConfig) ?? replicas
  return minReplicas === undefined ? group : { ...group, scaleConfig: { ...scaleConfig, minReplicas } }
}

/** The stored lower bound, where nothing else of the configuration changes: an edit of replicas is not one of bounds. */
function keptMinimum(given: AutoScalingConfig, old: AutoScalingConfig | undefined): number | undefined {
  if (old === undefined) return undefined
  const { minReplicas, ...rest } = old
  return semanticallyEqual(rest, given) ? minReplicas : undefined
}
