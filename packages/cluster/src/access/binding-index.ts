// SPDX-License-Identifier: Apache-2.0

import { type ObjectOf, objectKey } from '../object.ts'
import { storages } from '../registry/storages.ts'
import type { RbacRole, RbacRoleBinding, RbacRoleRef, RbacSubject } from '../schema/types.generated.ts'
import type { UserInfo } from '../server/request.ts'
import { type Change, objectIn, type StorageOf, type Store } from '../store/index.ts'
import { serviceAccountName } from './service-account-user.ts'

/** One subject of one binding. */
export interface Grant {
  readonly binding: string
  /** Empty for cluster role bindings. */
  readonly namespace: string
  readonly role: RbacRoleRef
  readonly subject: RbacSubject
}

/**
 * Indexes bindings by subject and follows the store. A request reads only the bindings of its user and
 * groups.
 */
export class BindingIndex {
  /** By namespace (empty: cluster-wide), then by subject, then by binding. */
  readonly #grants = new Map<string, Map<string, Map<string, Grant>>>()
  readonly stop: () => void

  constructor(store: Store) {
    this.stop = store.observe(change => this.#notice(change))
    for (const resource of [storages.clusterRoleBindings, storages.roleBindings])
      for (const binding of store.list(resource, { prefix: '' }).items) this.#add(binding)
  }

  /** Yields all grants of a user in a namespace, cluster-wide ones first. */
  *grantsOf(user: UserInfo, namespace: string): Generator<Grant> {
    for (const scope of namespace ? ['', namespace] : ['']) {
      const subjects = this.#grants.get(scope)
      if (!subjects) continue
      yield* subjects.get(`User ${user.name}`)?.values() ?? []
      for (const group of user.groups) yield* subjects.get(`Group ${group}`)?.values() ?? []
    }
  }

  #notice({ resource, type, object, previous }: Change): void {
    for (const storage of [storages.roleBindings, storages.clusterRoleBindings]) {
      const [before, after] = [objectIn(storage, previous, resource), objectIn(storage, object, resource)]
      if (before) this.#remove(before)
      if (after && type !== 'DELETED') this.#add(after)
    }
  }

  #add(object: ObjectOf<RbacRoleBinding>): void {
    const { namespace = '', name = '' } = object.metadata
    const { roleRef, subjects = [] } = object
    for (const subject of subjects) {
      const key = subjectKey(subject, namespace)
      if (key === undefined || !roleRef) continue
      const scope = entry(this.#grants, namespace, () => new Map<string, Map<string, Grant>>())
      const grants = entry(scope, key, () => new Map<string, Grant>())
      // A binding that names a subject twice grants it once.
      if (!grants.has(name)) grants.set(name, { binding: name, namespace, role: roleRef, subject })
    }
  }

  #remove(object: ObjectOf<RbacRoleBinding>): void {
    const { namespace = '', name = '' } = object.metadata
    const scope = this.#grants.get(namespace)
    for (const subject of object.subjects ?? []) {
      const key = subjectKey(subject, namespace) ?? ''
      const grants = scope?.get(key)
      if (grants?.delete(name) && grants.size === 0) scope!.delete(key)
    }
    if (scope?.size === 0) this.#grants.delete(namespace)
  }
}

/** Service accounts are users with a reserved name. Undefined for a subject that matches no user. */
function subjectKey({ kind, name = '', namespace }: RbacSubject, bindingNamespace: string) {
  if (kind === 'User' || kind === 'Group') return `${kind} ${name}`
  const home = namespace || bindingNamespace
  return kind === 'ServiceAccount' && home ? `User ${serviceAccountName(home, name)}` : undefined
}

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key)
  if (value === undefined) {
    value = make()
    map.set(key, value)
  }
  return value
}

/** The storage and key of the role that a binding in `namespace` refers to. */
export function roleLocation(
  role: RbacRoleRef,
  namespace: string,
): { resource: StorageOf<RbacRole>; key: string } {
  return role.kind === 'ClusterRole'
    ? { resource: storages.clusterRoles, key: role.name ?? '' }
    : { resource: storages.roles, key: objectKey(namespace, role.name ?? '') }
}
