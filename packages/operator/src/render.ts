// SPDX-License-Identifier: Apache-2.0

// Renders every object of a fully rolled-out set without a cluster, with the builders of the controllers and with every
// pod ready. Pods have their hostname as name and no gate.
import {
  type ClusterTopologyBinding,
  type OperatorConfiguration,
  type ResourceClaimSpec,
  type ResourceClaimTemplate,
  type ResourceSharing,
  scheduler,
} from '@grove/api'
import { cliqueErrors, gangErrors } from './errors/catalogue.ts'
import {
  type CliqueInstance,
  groupReplicasFromTemplate,
  memberCliques,
  podGangs,
  range,
  type ScalingGroupInstance,
  scalingGroups,
  standaloneCliques,
} from './layout/layout.ts'
import { mnnvlGroups } from './layout/mnnvl.ts'
import type { Owner } from './layout/owner.ts'
import { internalTemplate } from './layout/resource-sharing.ts'
import type { StoredClique, StoredGang, StoredSet } from './layout/stored.ts'
import { topologyName, topologyReference } from './layout/topology.ts'
import { autoscalers } from './objects/autoscaler.ts'
import { podClique } from './objects/clique.ts'
import { computeDomain } from './objects/compute-domain.ts'
import { podGang } from './objects/gang.ts'
import { headlessService } from './objects/headless-service.ts'
import { podRole, podRoleBinding, serviceAccount, tokenSecret } from './objects/identity.ts'
import { kaiTopology } from './objects/kai-topology.ts'
import { pod, ungated } from './objects/pod.ts'
import { claimsOfClique, claimsOfScalingGroup, claimsOfSet } from './objects/resource-claim.ts'
import { podCliqueScalingGroup } from './objects/scaling-group.ts'
import { buildAll } from './objects/wanted-child.ts'
import {
  type GangContext,
  GangMappingError,
  type SchedulerBackend,
  type SchedulerObject,
} from './schedulers/backend.ts'
import type { SchedulerBackends } from './schedulers/registry.ts'

export interface RenderContext {
  readonly backends: SchedulerBackends
  readonly configuration: OperatorConfiguration
  readonly waiterImage: string | undefined
  readonly topologyBindings: readonly ClusterTopologyBinding[]
  readonly claimTemplates: readonly ResourceClaimTemplate[]
  /** Revision hash of each clique, by its name. */
  podTemplateHashes(set: StoredSet): Readonly<Record<string, string>>
}

export type RenderedObject = Owner & { readonly spec?: unknown }

export function render(set: StoredSet, context: RenderContext): RenderedObject[] {
  const replicas = range(0, set.spec.replicas ?? 0)
  const hashes = context.podTemplateHashes(set)
  const find = (entry: ResourceSharing) => claimTemplate(set, context, entry)
  const cliques = replicas.flatMap(replica => renderCliques(set, replica, hashes, find, context))
  return [
    serviceAccount(set),
    podRole(set),
    podRoleBinding(set),
    tokenSecret(set),
    ...buildAll(claimsOfSet(set, replicas, find)),
    ...replicas.flatMap(replica => [
      headlessService(set, replica),
      ...buildAll(autoscalers(set, replica)),
      ...(context.configuration.network.autoMNNVLEnabled
        ? mnnvlGroups(set).map(group => computeDomain(set, replica, group))
        : []),
      ...scalingGroups(set, replica).flatMap(group => renderScalingGroup(set, group, find)),
    ]),
    ...cliques.flatMap(({ objects, pods }) => [...objects, ...pods]),
    ...renderGangs(set, context, new Map(cliques.map(({ name, pods }) => [name, pods.map(nameOf)]))),
  ]
}

/** The topologies that the operator creates for topology bindings. */
export function renderTopologies(context: RenderContext): SchedulerObject[] {
  if (!context.backends.find(scheduler.kai)) return []
  return context.topologyBindings.map(kaiTopology).filter(topology => topology !== undefined)
}

type FindTemplate = (entry: ResourceSharing) => ResourceClaimSpec | undefined

function renderScalingGroup(
  set: StoredSet,
  instance: ScalingGroupInstance,
  find: FindTemplate,
): RenderedObject[] {
  const group = podCliqueScalingGroup(set, instance)
  const replicas = range(0, groupReplicasFromTemplate(instance))
  return [group, ...buildAll(claimsOfScalingGroup(set, instance, group, replicas, find))]
}

interface RenderedClique {
  readonly name: string
  readonly objects: RenderedObject[]
  readonly pods: RenderedObject[]
}

function renderCliques(
  set: StoredSet,
  setReplica: number,
  hashes: Readonly<Record<string, string>>,
  find: FindTemplate,
  context: RenderContext,
): RenderedClique[] {
  const standalone = standaloneCliques(set, setReplica).map(instance =>
    renderClique(set, instance, set, hashes, find, context),
  )
  const members = scalingGroups(set, setReplica).flatMap(group => {
    const owner = podCliqueScalingGroup(set, group)
    return range(0, groupReplicasFromTemplate(group)).flatMap(replica =>
      memberCliques(set, group, replica).map(instance =>
        renderClique(set, instance, owner, hashes, find, context),
      ),
    )
  })
  return [...standalone, ...members]
}

function renderClique(
  set: StoredSet,
  instance: CliqueInstance,
  owner: Owner,
  hashes: Readonly<Record<string, string>>,
  find: FindTemplate,
  context: RenderContext,
): RenderedClique {
  const clique = podClique(set, instance, owner, hashes[instance.template.name] ?? '') as StoredClique
  const name = clique.spec.podSpec.schedulerName || context.backends.nameFor(set)
  const backend = context.backends.find(name)
  if (!backend) {
    throw cliqueErrors.schedulerNotRendered(name)()
  }
  const indexes = range(0, clique.spec.replicas)
  const pods = indexes.map(index => {
    const made = ungated(pod({ ...context, set, clique, instance, backend }, index))
    const { generateName: _, ...metadata } = made.metadata
    return { ...made, metadata: { ...metadata, name: made.spec!.hostname! } } as RenderedObject
  })
  return {
    name: instance.name,
    objects: [clique, ...buildAll(claimsOfClique(set, instance, clique, indexes, find))],
    pods,
  }
}

function renderGangs(
  set: StoredSet,
  context: RenderContext,
  podsOf: ReadonlyMap<string, readonly string[]>,
): RenderedObject[] {
  const topology = topologyName(set)
  const binding = context.topologyBindings.find(candidate => candidate.metadata.name === topology)
  const { enabled } = context.configuration.topologyAwareScheduling
  const levels = enabled ? (binding?.spec.levels ?? []) : undefined
  const schedulerName = context.backends.nameFor(set)
  const backend = context.backends.find(schedulerName) ?? context.backends.default
  return podGangs(set, groupReplicasFromTemplate).flatMap(instance => {
    const gang = podGang(instance, {
      set,
      levels,
      schedulerName,
      podsOf: clique => podsOf.get(clique) ?? [],
    }) as StoredGang
    const reference = topologyReference(binding, backend.name)
    return [gang, ...schedulerObjects(backend, gang, { set, instance, topologyReference: reference })]
  })
}

function schedulerObjects(
  backend: SchedulerBackend,
  gang: StoredGang,
  context: GangContext,
): SchedulerObject[] {
  try {
    return backend.objectsFor(gang, context)
  } catch (error) {
    if (!(error instanceof GangMappingError)) throw error
    throw gangErrors.mapping(error.message)()
  }
}

function claimTemplate(
  set: StoredSet,
  context: RenderContext,
  entry: ResourceSharing,
): ResourceClaimSpec | undefined {
  const internal = internalTemplate(set, entry)
  if (internal) return internal
  const namespace = entry.namespace || set.metadata.namespace
  return context.claimTemplates.find(
    template =>
      template.metadata.name === entry.name && (template.metadata.namespace || 'default') === namespace,
  )?.spec.spec
}

function nameOf(object: RenderedObject): string {
  return object.metadata.name
}
