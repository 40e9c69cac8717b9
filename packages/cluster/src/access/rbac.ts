// SPDX-License-Identifier: Apache-2.0

import type { RbacPolicyRule, RbacRoleRef } from '../schema/types.generated.ts'
import type { AccessAttributes, Authorizer } from '../server/authorization.ts'
import type { UserInfo } from '../server/request.ts'
import { ApiError } from '../server/status.ts'
import type { Store } from '../store/index.ts'
import { BindingIndex, type Grant, roleLocation } from './binding-index.ts'
import { ruleAllows } from './policy-rules.ts'

/** The result of an authorization, with the reason that an access review shows. */
export interface AccessDecision {
  readonly allowed: boolean
  readonly reason: string
}

export type Decide = (attributes: AccessAttributes) => AccessDecision

export const privilegedGroup = 'system:masters'

/** Authorizes requests by the roles and bindings that are in the store at that time. */
export class RbacAuthorizer {
  readonly #store: Store
  readonly #bindings: BindingIndex

  constructor(store: Store) {
    this.#store = store
    this.#bindings = new BindingIndex(store)
  }

  stop(): void {
    this.#bindings.stop()
  }

  readonly decide: Decide = attributes => {
    const { user, namespace } = attributes
    if (user.groups.includes(privilegedGroup)) return { allowed: true, reason: '' }
    const lost: string[] = []
    for (const grant of this.#bindings.grantsOf(user, namespace)) {
      const rules = this.rulesOf(grant.role, grant.namespace)
      if (!rules) lost.push(describeLostRole(grant.role))
      else if (rules.some(rule => ruleAllows(rule, attributes)))
        return { allowed: true, reason: `RBAC: allowed by ${describeGrant(grant)}` }
    }
    return { allowed: false, reason: lost.length > 0 ? `rbac: RBAC: ${aggregate(lost)}` : '' }
  }

  readonly authorize: Authorizer = attributes => rejectionOf(attributes, this.decide(attributes))

  /** Returns all rules of a user in a namespace, including cluster-wide ones. */
  rulesFor(user: UserInfo, namespace: string): RbacPolicyRule[] {
    const rules: RbacPolicyRule[] = []
    for (const grant of this.#bindings.grantsOf(user, namespace))
      rules.push(...(this.rulesOf(grant.role, grant.namespace) ?? []))
    return rules
  }

  /** Returns undefined if the role does not exist. */
  rulesOf(role: RbacRoleRef, namespace: string): readonly RbacPolicyRule[] | undefined {
    const { resource, key } = roleLocation(role, namespace)
    const found = this.#store.get(resource, key)
    return found && (found.rules ?? [])
  }
}

/**
 * Returns undefined if the request is allowed. Throws for paths outside the resource API, because their
 * message names no resource.
 */
export function rejectionOf(attributes: AccessAttributes, decision: AccessDecision): string | undefined {
  if (decision.allowed) return undefined
  const text = describeRejection(attributes) + (decision.reason && `: ${decision.reason}`)
  if (!attributes.isResource) throw new ApiError(403, 'Forbidden', `forbidden: ${text}`, {})
  return text
}

function describeRejection(attributes: AccessAttributes): string {
  const { user, verb, group, resource, subresource, namespace } = attributes
  const who = `User ${JSON.stringify(user.name)} cannot ${verb}`
  if (!attributes.isResource) return `${who} path ${JSON.stringify(attributes.path)}`
  const what = subresource ? `${resource}/${subresource}` : resource
  const where = namespace ? `in the namespace ${JSON.stringify(namespace)}` : 'at the cluster scope'
  return `${who} resource ${JSON.stringify(what)} in API group ${JSON.stringify(group)} ${where}`
}

function describeLostRole({ kind = '', name = '' }: RbacRoleRef): string {
  return `${kind.toLowerCase()}.rbac.authorization.k8s.io ${JSON.stringify(name)} not found`
}

/** Joins errors like Go's `utilerrors.Aggregate`: without duplicates, in brackets if there are several. */
function aggregate(texts: readonly string[]): string {
  const unique = [...new Set(texts)]
  return unique.length === 1 ? unique[0]! : `[${unique.join(', ')}]`
}

function describeGrant({ binding, namespace, role, subject }: Grant): string {
  const kind = namespace ? 'RoleBinding' : 'ClusterRoleBinding'
  const name = namespace ? `${binding}/${namespace}` : binding
  const subjectName =
    subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace || namespace}` : subject.name
  return `${kind} "${name}" of ${role.kind} "${role.name}" to ${subject.kind} "${subjectName}"`
}
