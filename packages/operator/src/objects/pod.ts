// SPDX-License-Identifier: Apache-2.0

import {
  type Container,
  label,
  managedLabels,
  names,
  type PodSpec,
  podEnvironment,
  podSchedulingGate,
  type Volume,
  waiter,
} from '@grove/api'
import type { SchedulerBackend } from '../backends/backend.ts'
import { fromLabel, literal, withEnvironment } from '../container-env.ts'
import type { CliqueInstance } from '../layout.ts'
import { claimsOfPod } from '../resource-sharing.ts'
import { type StartupParent, startupParents } from '../startup-order.ts'
import type { NewPod, StoredClique, StoredSet } from '../stored.ts'
import { controlledBy } from './owner.ts'

export interface PodContext {
  readonly set: StoredSet
  readonly clique: StoredClique
  readonly instance: CliqueInstance
  readonly backend: SchedulerBackend
  /** Image of the start-up waiter with its tag; only needed where something starts after something else. */
  readonly waiterImage: string | undefined
}

export class WaiterImageMissingError extends Error {
  constructor() {
    super(
      'environment variable GROVE_INIT_CONTAINER_IMAGE is not set, so pods that start after others cannot be made',
    )
  }
}

/** The one place that builds a pod. It is gated until its gang is complete. */
export function pod(context: PodContext, podIndex: number): NewPod {
  const { set, clique, instance, backend } = context
  const bare: NewPod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: names.podPrefix(instance.name),
      namespace: set.metadata.namespace,
      labels: {
        ...managedLabels(set.metadata.name),
        ...clique.metadata.labels,
        [label.podClique]: instance.name,
        [label.setReplicaIndex]: String(instance.setReplica),
        [label.podGang]: instance.podGang,
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
  const { set, clique, instance, backend } = context
  const replica = names.replica(set.metadata.name, instance.setReplica)
  const spec = withEnvironment(clique.spec.podSpec, [
    literal(podEnvironment.setName, set.metadata.name),
    literal(podEnvironment.setIndex, String(instance.setReplica)),
    literal(podEnvironment.cliqueName, instance.name),
    literal(
      podEnvironment.headlessService,
      names.headlessServiceAddress(set.metadata.name, instance.setReplica, set.metadata.namespace ?? ''),
    ),
    fromLabel(podEnvironment.podIndex, label.podIndex),
  ])
  const claimed = withClaims(spec, claimsOfPod(set, instance, podIndex))
  return {
    ...withWaiter(claimed, context),
    // Gates of the template belong to others, who take them away themselves.
    schedulingGates: [
      { name: podSchedulingGate },
      ...(claimed.schedulingGates ?? []).filter(gate => gate.name !== podSchedulingGate),
    ],
    schedulerName: backend.name,
    hostname: names.podHostname(instance.name, podIndex),
    subdomain: replica,
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

/** The waiter comes last among the init containers: what the user prepares runs while the parents start. */
function withWaiter(spec: PodSpec, context: PodContext): PodSpec {
  if (!context.clique.spec.startsAfter?.length) return spec
  if (!context.waiterImage) throw new WaiterImageMissingError()
  const parents = startupParents(context.set, context.instance)
  return {
    ...spec,
    initContainers: [...(spec.initContainers ?? []), waiterContainer(context.waiterImage, parents)],
    volumes: [...(spec.volumes ?? []), ...waiterVolumes(context.set.metadata.name)],
  }
}

function waiterContainer(image: string, parents: readonly StartupParent[]): Container {
  return {
    name: waiter.containerName,
    image,
    args: parents.map(parent => waiter.argument(parent.name, parent.minAvailable)),
    volumeMounts: [
      { name: waiter.podInfoVolume, mountPath: waiter.podInfoPath, readOnly: true },
      { name: waiter.tokenVolume, mountPath: waiter.tokenPath, readOnly: true },
    ],
  }
}

function waiterVolumes(set: string): Volume[] {
  return [
    {
      name: waiter.tokenVolume,
      secret: { secretName: names.tokenSecret(set), defaultMode: waiter.tokenFileMode },
    },
    {
      name: waiter.podInfoVolume,
      downwardAPI: {
        items: [
          { path: waiter.namespaceFile, fieldRef: { fieldPath: 'metadata.namespace' } },
          { path: waiter.podGangFile, fieldRef: { fieldPath: `metadata.labels['${label.podGang}']` } },
        ],
      },
    },
  ]
}

/** The pod as its gang lets it go: without our gate, with those of others. */
export function ungated<P extends { spec?: PodSpec }>(gated: P): P {
  const { schedulingGates, ...spec } = gated.spec!
  const left = (schedulingGates ?? []).filter(gate => gate.name !== podSchedulingGate)
  return { ...gated, spec: { ...spec, ...(left.length && { schedulingGates: left }) } }
}
