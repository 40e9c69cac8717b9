// SPDX-License-Identifier: Apache-2.0

import { isBlank, semanticallyEqual } from '@grove/apimachinery'
import type { AutoScalingConfig, CliqueTemplate, PodCliqueSet, ScalingGroupTemplate } from '../types/index.ts'

const defaultTerminationDelay = '4h0m0s'
const defaultGracePeriodSeconds = 30

/**
 * Sets the defaults that a schema cannot express: values that depend on others, and values inside the pod spec. Only
 * absent fields are set. The argument is not changed, and the result shares all unchanged parts with it. `namespace` is
 * that of the request. On an update `old` is the stored object, which supplies absent immutable fields.
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
    metadata: isBlank(set.metadata.namespace) ? { ...set.metadata, namespace } : set.metadata,
    spec: { ...set.spec, template: filled },
  }
}

/** If several entries have one name, which admission never accepts, the first counts. */
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
      restartPolicy: isBlank(podSpec.restartPolicy) ? 'Always' : podSpec.restartPolicy,
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

/** The stored minReplicas, if nothing else of the autoscaler changes: an edit of replicas must not move the bounds. */
function keptMinimum(given: AutoScalingConfig, old: AutoScalingConfig | undefined): number | undefined {
  if (old === undefined) return undefined
  const { minReplicas, ...rest } = old
  return semanticallyEqual(rest, given) ? minReplicas : undefined
}
