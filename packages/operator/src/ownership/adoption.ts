// SPDX-License-Identifier: Apache-2.0

// Children without a controller: their owner was deleted with `--cascade=orphan`, or a user removed the owner
// reference. An owner of the same name that wants them adopts them unchanged, as Deployments do with ReplicaSets.
import { component, type ErrorCode, label, names } from '@grove/api'
import type { KubeObject, Resource, Stored } from '@grove/kube'
import { execute } from '../apply/execute.ts'
import type { Intent } from '../apply/intent.ts'
import { type Caches, orphansOf } from '../caches/caches.ts'
import { resources } from '../caches/resources.ts'
import { setErrors } from '../errors/catalogue.ts'
import { throwIfAny } from '../errors/coded-error.ts'
import { scalingGroups } from '../layout/layout.ts'
import { keyOf, setKey } from '../layout/object-key.ts'
import { controlledBy, type Owner } from '../layout/owner.ts'
import type { StoredScalingGroup, StoredSet } from '../layout/stored.ts'
import { podRole, podRoleBinding, serviceAccount } from '../objects/identity.ts'
import type { OperatorContext } from '../operator-context.ts'

type Orphan = readonly [Resource<KubeObject>, Stored<KubeObject>]

/**
 * Returns children that a set of this name created and that have no controller. Labels alone prove nothing, because
 * users copy them: the object must also have the name that its labels, or the set, give to it. Scaling groups adopt
 * their members.
 */
export function orphansOfSet(set: StoredSet, caches: Caches): Orphan[] {
  const key = orphansOf(setKey(set.metadata))
  const named =
    (...objects: readonly KubeObject[]) =>
    ({ metadata }: KubeObject) =>
      objects.some(object => object.metadata?.name === metadata?.name)
  const hasComponent = (kind: string) => (object: KubeObject) =>
    object.metadata?.labels?.[label.component] === kind && isNamedByLabel(object)
  const isStandalone = (object: KubeObject) =>
    isNamedByLabel(object) && object.metadata?.labels?.[label.scalingGroup] === undefined
  const of = (
    resource: Resource<KubeObject>,
    cache: { byIndex(index: 'controller', key: string): Stored<KubeObject>[] } | undefined,
    isOwn: (object: KubeObject) => boolean,
  ): Orphan[] =>
    (cache?.byIndex('controller', key) ?? []).filter(isOwn).map((object): Orphan => [resource, object])
  return [
    ...of(resources.serviceAccounts, caches.serviceAccounts, named(serviceAccount(set))),
    ...of(resources.roles, caches.roles, named(podRole(set))),
    ...of(resources.roleBindings, caches.roleBindings, named(podRoleBinding(set))),
    ...of(resources.services, caches.services, hasComponent(component.headlessService)),
    ...of(resources.autoscalers, caches.autoscalers, hasComponent(component.horizontalPodAutoscaler)),
    ...of(resources.computeDomains, caches.computeDomains, isNamedByLabel),
    ...of(resources.controllerRevisions, caches.controllerRevisions, () => true),
    ...of(resources.podCliques, caches.cliques, isStandalone),
    ...of(resources.podCliqueScalingGroups, caches.groups, isNamedByLabel),
    ...of(resources.podGangs, caches.gangs, object => hasNameOfGang(set, object)),
  ].filter(isStaying)
}

/** Returns the members that a scaling group of this name created. */
export function orphansOfGroup(set: StoredSet, group: StoredScalingGroup, caches: Caches): Orphan[] {
  return caches.cliques
    .byIndex('controller', orphansOf(setKey(set.metadata)))
    .filter(
      clique =>
        clique.metadata.labels?.[label.scalingGroup] === group.metadata.name && isNamedByLabel(clique),
    )
    .map((clique): Orphan => [resources.podCliques, clique])
    .filter(isStaying)
}

/** Every child except a gang also carries its name as a label. In a copy, that label names another object. */
export function isNamedByLabel({ metadata }: KubeObject): boolean {
  return metadata?.name !== undefined && metadata.labels?.[label.name] === metadata.name
}

/** Reports whether a gang of the set may have this name, for any number of replicas. */
function hasNameOfGang(set: StoredSet, { metadata: { name = '' } = {} }: KubeObject): boolean {
  const replica = Number.parseInt(name.slice(set.metadata.name.length + 1), 10)
  if (Number.isNaN(replica)) return false
  if (name === names.basePodGang(set.metadata.name, replica)) return true
  return scalingGroups(set, replica).some(
    group => name.startsWith(`${group.name}-`) && /^\d+$/.test(name.slice(group.name.length + 1)),
  )
}

/** Makes the owner the controller of the orphans and changes nothing else. Returns how many it adopted. */
export async function adopt<T extends KubeObject>(
  orphans: readonly Orphan[],
  resource: Resource<T>,
  owner: Stored<T> & Owner,
  code: ErrorCode,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<number> {
  if (orphans.length === 0) return 0
  const { name, namespace = '', uid } = owner.metadata
  // The cache may not show yet that the owner was deleted with --cascade=orphan. Such an owner must not adopt its
  // children again.
  const now = await context.caches.client.find(resource, { name, namespace }, { signal })
  if (now?.metadata.uid !== uid || now.metadata.deletionTimestamp) return 0
  const { failures, written } = await execute(
    orphans.map(([kind, object]): Intent => {
      const { resourceVersion, ownerReferences = [] } = object.metadata
      return {
        kind: 'patch',
        resource: kind,
        object,
        merge: {
          metadata: {
            resourceVersion,
            ownerReferences: [...ownerReferences.filter(one => one.uid !== uid), ...controlledBy(owner)],
          },
        },
        error: setErrors.adopt(code, kind.kind, keyOf(object)),
      }
    }),
    context,
    { signal },
  )
  throwIfAny(failures)
  return written
}

function isStaying([, { metadata }]: Orphan): boolean {
  return metadata.deletionTimestamp === undefined
}
