// SPDX-License-Identifier: Apache-2.0

// Children that nobody controls: their owner was deleted with `--cascade=orphan`, or somebody took their owner reference
// away. Who has the same name and wants them takes them over as they stand, as Deployments do with ReplicaSets.
import { type ErrorCode, label } from '@grove/api'
import { isNotFound, type KubeObject, type Resource, type Stored } from '@grove/kube'
import { CodedError, PassFailed } from './coded-error.ts'
import { keyOf } from './object-key.ts'
import { podRole, podRoleBinding, serviceAccount } from './objects/identity.ts'
import { controlledBy, type Owner } from './objects/owner.ts'
import type { OperatorContext } from './operator-context.ts'
import { wantedAutoscalers, wantedServices } from './podcliqueset/children.ts'
import { resources } from './resources.ts'
import type { StoredScalingGroup, StoredSet } from './stored.ts'
import { orphansOf, type World } from './world.ts'
import { runAll } from './writes.ts'

type Orphan = readonly [Resource<KubeObject>, Stored<KubeObject>]

/**
 * What a set of this name made for itself; what its scaling groups made is theirs. Kinds that everybody uses only under
 * the names that are wanted: something else with our labels may be a copy that somebody made.
 */
export function orphansOfSet(set: StoredSet, world: World): Orphan[] {
  const key = orphansOf(keyOf(set))
  const isOfGroup = ({ metadata }: KubeObject) => metadata?.labels?.[label.scalingGroup] !== undefined
  const wanted = (found: readonly Stored<KubeObject>[], objects: () => readonly KubeObject[]) => {
    if (found.length === 0) return found
    const names = new Set(objects().map(({ metadata }) => metadata?.name))
    return found.filter(({ metadata }) => names.has(metadata.name))
  }
  const accounts = world.serviceAccounts.byIndex('controller', key)
  const all: [Resource<KubeObject>, readonly Stored<KubeObject>[]][] = [
    [resources.serviceAccounts, wanted(accounts, () => [serviceAccount(set)])],
    [resources.roles, wanted(world.roles.byIndex('controller', key), () => [podRole(set)])],
    [
      resources.roleBindings,
      wanted(world.roleBindings.byIndex('controller', key), () => [podRoleBinding(set)]),
    ],
    [resources.services, wanted(world.services.byIndex('controller', key), () => wantedServices(set))],
    [
      resources.autoscalers,
      wanted(world.autoscalers.byIndex('controller', key), () => wantedAutoscalers(set)),
    ],
    [resources.computeDomains, world.computeDomains?.byIndex('controller', key) ?? []],
    [resources.controllerRevisions, world.controllerRevisions?.byIndex('controller', key) ?? []],
    [resources.podCliques, world.cliques.byIndex('controller', key).filter(one => !isOfGroup(one))],
    [resources.podCliqueScalingGroups, world.groups.byIndex('controller', key)],
    [resources.podGangs, world.gangs.byIndex('controller', key)],
  ]
  return all
    .flatMap(([resource, objects]) => objects.map((object): Orphan => [resource, object]))
    .filter(isStaying)
}

/** The members that a scaling group of this name made. */
export function orphansOfGroup(set: StoredSet, group: StoredScalingGroup, world: World): Orphan[] {
  return world.cliques
    .byIndex('controller', orphansOf(keyOf(set)))
    .filter(({ metadata }) => metadata.labels?.[label.scalingGroup] === group.metadata.name)
    .map((clique): Orphan => [resources.podCliques, clique])
    .filter(isStaying)
}

/** Makes the owner their controller and changes nothing else; tells how many they were. */
export async function adopt<T extends KubeObject>(
  orphans: readonly Orphan[],
  resource: Resource<T>,
  owner: Stored<T> & Owner,
  code: ErrorCode,
  { world }: OperatorContext,
  signal: AbortSignal,
): Promise<number> {
  if (orphans.length === 0) return 0
  const { name, namespace = '', uid } = owner.metadata
  // What we know of the owner may be old: one that is going lets its children go, and must not catch them again.
  const now = await world.client.find(resource, { name, namespace }, { signal })
  if (now?.metadata.uid !== uid || now.metadata.deletionTimestamp) return 0
  let adopted = 0
  const failures = await runAll(
    orphans.map(([kind, { metadata }]) => async () => {
      const { resourceVersion, ownerReferences = [] } = metadata
      const merge = {
        metadata: {
          uid: metadata.uid,
          resourceVersion,
          ownerReferences: [...ownerReferences, ...controlledBy(owner)],
        },
      }
      try {
        await world.client.patch(kind, { name: metadata.name, namespace }, { merge }, { signal })
        adopted++
      } catch (error) {
        if (isNotFound(error)) return
        const id = `${kind.kind} ${namespace}/${metadata.name}`
        throw new CodedError('Sync', code, `Error taking over ${id}, which nobody controls`, error)
      }
    }),
  )
  if (failures.length) throw new PassFailed(failures)
  return adopted
}

function isStaying([, { metadata }]: Orphan): boolean {
  return metadata.deletionTimestamp === undefined
}
