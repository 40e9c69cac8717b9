// SPDX-License-Identifier: Apache-2.0

import { equalJson } from '@grove/apimachinery'
import type { KubeObject } from '../object.ts'
import { storages } from '../registry/storages.ts'
import type { RbacPolicyRule } from '../schema/types.generated.ts'
import type { AdmissionAttributes, AdmissionPlugin } from '../server/admission.ts'
import { refuse } from '../server/status.ts'
import { objectIn } from '../store/index.ts'
import { compactRules, describeRule, missingRules, quoteList } from './policy-rules.ts'
import { privilegedGroup, type RbacAuthorizer } from './rbac.ts'

const rbacGroup = 'rbac.authorization.k8s.io'

/**
 * Nobody gives away what they do not have: who writes a role or a binding must hold all of it, or may `escalate` the
 * role or `bind` it. Runs among the plugins that change objects, because the real server refuses it before it looks
 * whether the object is valid.
 */
export function preventEscalation(rbac: RbacAuthorizer): AdmissionPlugin {
  return {
    name: 'RBACEscalation',
    mutate(attributes) {
      const { resource, operation, user, object } = attributes
      if (resource.group !== rbacGroup || !object) return
      if (operation !== 'CREATE' && operation !== 'UPDATE') return
      if (user.groups.includes(privilegedGroup)) return
      if (attributes.oldObject && onlyGarbageCollection(object, attributes.oldObject)) return
      if ('aggregationRule' in object) requireEverything(rbac, attributes, object)
      const rules = grantedRules(rbac, attributes, object)
      if (!rules) return
      const missing = missingRules(rbac.rulesFor(user, attributes.namespace), rules)
      if (missing.length === 0) return
      const texts = [...new Set(compactRules(missing).map(describeRule))].sort()
      throw refuse.forbidden(
        resource,
        object.metadata.name ?? '',
        `user ${JSON.stringify(user.name)} (groups=${quoteList(user.groups)}) is attempting to grant RBAC permissions not currently held:\n${texts.join('\n')}`,
      )
    },
  }
}

const everything: RbacPolicyRule[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
  { nonResourceURLs: ['*'], verbs: ['*'] },
]

/** A role that is made of others can come to hold anything. */
function requireEverything(
  rbac: RbacAuthorizer,
  { resource, namespace, user }: AdmissionAttributes,
  object: KubeObject,
): void {
  if (missingRules(rbac.rulesFor(user, namespace), everything).length > 0)
    throw refuse.forbidden(
      resource,
      object.metadata.name ?? '',
      'must have cluster-admin privileges to use the aggregationRule',
    )
}

/** What the write gives away; undefined when the user is explicitly allowed to. */
function grantedRules(
  rbac: RbacAuthorizer,
  { resource, namespace, name, user }: AdmissionAttributes,
  object: KubeObject,
): readonly RbacPolicyRule[] | undefined {
  const about = {
    user,
    isResource: true,
    group: rbacGroup,
    version: '*',
    subresource: '',
    namespace,
    path: '',
  }
  const role =
    objectIn(storages.roles, object, resource.storage) ??
    objectIn(storages.clusterRoles, object, resource.storage)
  if (role) {
    const may = rbac.decide({ ...about, verb: 'escalate', resource: resource.plural, name })
    return may.allowed ? undefined : (role.rules ?? [])
  }
  const binding =
    objectIn(storages.roleBindings, object, resource.storage) ??
    objectIn(storages.clusterRoleBindings, object, resource.storage)
  const roleRef = binding?.roleRef ?? {}
  const plural = roleRef.kind === 'ClusterRole' ? 'clusterroles' : 'roles'
  const may = rbac.decide({ ...about, verb: 'bind', resource: plural, name: roleRef.name ?? '' })
  if (may.allowed) return undefined
  const rules = rbac.rulesOf(roleRef, namespace)
  // The real server blames the kind that was written, with the name of the role.
  if (!rules) throw refuse.notFound(resource, roleRef.name ?? '')
  return rules
}

/** A collector may remove finalizers and owners of what it could not have granted. */
function onlyGarbageCollection(object: KubeObject, old: KubeObject): boolean {
  const rest = ({ metadata, ...others }: KubeObject) => {
    const { ownerReferences, finalizers, managedFields, resourceVersion, ...kept } = metadata
    return { ...others, metadata: kept }
  }
  return equalJson(rest(object), rest(old))
}
