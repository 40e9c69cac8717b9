// SPDX-License-Identifier: Apache-2.0

import { equalJson } from '@grove/apimachinery'
import type { KubeObject } from '../object.ts'
import { storages } from '../registry/storages.ts'
import type { RbacPolicyRule } from '../schema/types.generated.ts'
import type { AdmissionAttributes, AdmissionPlugin } from '../server/admission.ts'
import { apiError } from '../server/status.ts'
import { objectIn } from '../store/index.ts'
import { compactRules, describeRule, missingRules, quoteList } from './policy-rules.ts'
import { privilegedGroup, type RbacAuthorizer } from './rbac.ts'

const rbacGroup = 'rbac.authorization.k8s.io'

/**
 * Prevents privilege escalation: the writer of a role or binding must hold all its permissions, or have the
 * verb `escalate` or `bind` on the role. Runs as a mutating plugin, because the real API server rejects such
 * a write before validation.
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
      throw apiError.forbidden(
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

/** An aggregated role can get any permission. */
function requireEverything(
  rbac: RbacAuthorizer,
  { resource, namespace, user }: AdmissionAttributes,
  object: KubeObject,
): void {
  if (missingRules(rbac.rulesFor(user, namespace), everything).length > 0)
    throw apiError.forbidden(
      resource,
      object.metadata.name ?? '',
      'must have cluster-admin privileges to use the aggregationRule',
    )
}

/** Returns the rules that the write grants; undefined if the user has the verb `escalate` or `bind`. */
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
  // The real API server reports the written kind with the name of the role.
  if (!rules) throw apiError.notFound(resource, roleRef.name ?? '')
  return rules
}

/** The garbage collector may remove finalizers and owner references of roles that it could not grant. */
function onlyGarbageCollection(object: KubeObject, old: KubeObject): boolean {
  const rest = ({ metadata, ...others }: KubeObject) => {
    const { ownerReferences, finalizers, managedFields, resourceVersion, ...kept } = metadata
    return { ...others, metadata: kept }
  }
  return equalJson(rest(object), rest(old))
}
