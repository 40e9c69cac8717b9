// SPDX-License-Identifier: Apache-2.0

import {
  type Container,
  cliqueErrorCode,
  label,
  names,
  type OperatorConfiguration,
  operatorEnvironment,
  type PodSpec,
  podEnvironment,
  podSchedulingGate,
} from '@grove/api'
import type { CliqueInstance } from '../layout/layout.ts'
import { controlledBy } from '../layout/owner.ts'
import { claimsOfPod } from '../layout/resource-sharing.ts'
import { startupParents } from '../layout/startup-order.ts'
import type { NewPod, StoredClique, StoredSet } from '../layout/stored.ts'
import type { SchedulerBackend } from '../schedulers/backend.ts'
import { cliqueLabels } from './clique.ts'
import { fromLabel, literal, withEnvironment } from './container-env.ts'
import { withStartupWaiter } from './startup-waiter.ts'

/** The part of the operator's configuration that concerns pods. */
export type PodConfiguration = Pick<OperatorConfiguration, 'network' | 'startupWaiter'>

export interface PodContext {
  readonly set: StoredSet
  readonly clique: StoredClique
  readonly instance: CliqueInstance
  readonly backend: SchedulerBackend
  readonly configuration: PodConfiguration
  /** Image of the startup waiter with its tag, unless configured. Required for cliques with startup dependencies. */
  readonly waiterImage: string | undefined
}

export class WaiterImageMissingError extends Error {
  constructor() {
    super(
      `${cliqueErrorCode.waiterImageMissing}: pods that start after others need the image of the startup waiter: set startupWaiter.image of the operator, or its environment variable ${operatorEnvironment.waiterImage}`,
    )
  }
}

/**
 * Builds every pod. The pod is gated until its gang is complete, unless its scheduler waits for complete gangs itself.
 */
export function pod(context: PodContext, podIndex: number): NewPod {
  const { set, clique, instance, backend } = context
  const bare: NewPod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: names.podPrefix(instance.name),
      namespace: set.metadata.namespace,
      labels: {
        ...clique.metadata.labels,
        // Another client may have edited labels of the clique. The operator would not find a pod without its labels,
        // and would create it again.
        ...cliqueLabels(set, instance, clique.metadata.labels?.[label.podTemplateHash] ?? ''),
        [label.podClique]: instance.name,
        [label.podIndex]: String(podIndex),
      },
      ...(clique.metadata.annotations && { annotations: { ...clique.metadata.annotations } }),
      ownerReferences: controlledBy(clique),
    },
    spec: podSpec(context, podIndex),
  }
  return backend.preparePod(bare, { podGang: instance.podGang, clique: instance.name })
}

function podSpec(context: PodContext, podIndex: number): PodSpec {
  const { set, clique, instance, backend, configuration } = context
  const { name, namespace = '' } = set.metadata
  const { setReplica } = instance
  const { clusterDomain } = configuration.network
  const service = names.headlessServiceAddress(name, setReplica, namespace, clusterDomain)
  const spec = withEnvironment(clique.spec.podSpec, [
    literal(podEnvironment.setName, name),
    literal(podEnvironment.setIndex, String(setReplica)),
    literal(podEnvironment.cliqueName, instance.name),
    literal(podEnvironment.headlessService, service),
    fromLabel(podEnvironment.podIndex, label.podIndex),
  ])
  const { schedulingGates = [], ...claimed } = withClaims(spec, claimsOfPod(set, instance, podIndex))
  // Gates of the template belong to other controllers, which remove their gates themselves.
  const gates = schedulingGates.filter(gate => gate.name !== podSchedulingGate)
  if (backend.gatesPods) gates.unshift({ name: podSchedulingGate })
  return {
    ...startingInOrder(claimed, context),
    ...(gates.length > 0 && { schedulingGates: gates }),
    schedulerName: backend.podSchedulerName ?? backend.name,
    hostname: names.podHostname(instance.name, podIndex),
    subdomain: names.replica(name, setReplica),
  }
}

function withClaims(spec: PodSpec, claims: readonly string[]): PodSpec {
  if (claims.length === 0) return spec
  const claiming = (container: Container): Container => ({
    ...container,
    resources: {
      ...container.resources,
      claims: [
        ...(container.resources?.claims ?? []),
        ...claims.map(claim => ({ name: names.claimInPod(claim) })),
      ],
    },
  })
  return {
    ...spec,
    containers: spec.containers.map(claiming),
    ...(spec.initContainers && { initContainers: spec.initContainers.map(claiming) }),
    resourceClaims: [
      ...(spec.resourceClaims ?? []),
      ...claims.map(claim => ({ name: names.claimInPod(claim), resourceClaimName: claim })),
    ],
  }
}

function startingInOrder(spec: PodSpec, context: PodContext): PodSpec {
  const { set, clique, instance, configuration, waiterImage } = context
  if (!clique.spec.startsAfter?.length) return spec
  const image = configuration.startupWaiter.image || waiterImage
  if (!image) throw new WaiterImageMissingError()
  const parents = startupParents(set, instance)
  return withStartupWaiter(spec, {
    set: set.metadata.name,
    image,
    parents,
    configuration: configuration.startupWaiter,
  })
}

/** Returns the pod without the Grove gate. Keeps the gates of other controllers. */
export function ungated<P extends { spec?: PodSpec }>(gated: P): P {
  const { schedulingGates, ...spec } = gated.spec!
  const left = (schedulingGates ?? []).filter(gate => gate.name !== podSchedulingGate)
  return { ...gated, spec: { ...spec, ...(left.length && { schedulingGates: left }) } }
}
