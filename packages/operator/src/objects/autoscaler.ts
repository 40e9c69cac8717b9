// SPDX-License-Identifier: Apache-2.0

import {
  type AutoScalingConfig,
  apiVersion,
  component,
  type HorizontalPodAutoscaler,
  kinds,
  label,
  managedLabels,
  names,
} from '@grove/api'
import { scalingGroupConfigs } from '../layout/layout.ts'
import { controlledBy } from '../layout/owner.ts'
import type { StoredSet } from '../layout/stored.ts'
import type { WantedChild } from './wanted-child.ts'

/** Cliques first, then groups, as the template lists them. */
export function autoscalers(set: StoredSet, setReplica: number): WantedChild<HorizontalPodAutoscaler>[] {
  const wanted = (kind: string, name: string, config: AutoScalingConfig | undefined) =>
    config ? [{ name, build: () => autoscaler(set, kind, name, config) }] : []
  return [
    ...set.spec.template.cliques.flatMap(({ name, spec }) =>
      wanted(
        kinds.podClique.kind,
        names.standaloneClique(set.metadata.name, setReplica, name),
        spec.autoScalingConfig,
      ),
    ),
    ...scalingGroupConfigs(set).flatMap(({ name, scaleConfig }) =>
      wanted(
        kinds.podCliqueScalingGroup.kind,
        names.scalingGroup(set.metadata.name, setReplica, name),
        scaleConfig,
      ),
    ),
  ]
}

function autoscaler(
  set: StoredSet,
  kind: string,
  target: string,
  config: AutoScalingConfig,
): HorizontalPodAutoscaler {
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: {
      name: target,
      namespace: set.metadata.namespace,
      labels: {
        ...managedLabels(set.metadata.name),
        [label.component]: component.horizontalPodAutoscaler,
        [label.name]: target,
      },
      ownerReferences: controlledBy(set),
    },
    spec: {
      minReplicas: config.minReplicas,
      maxReplicas: config.maxReplicas,
      // Without metrics the API server sets a default. An explicit empty list would revert that default on every
      // reconcile.
      ...(config.metrics?.length && { metrics: config.metrics }),
      scaleTargetRef: { apiVersion, kind, name: target },
    },
  }
}
