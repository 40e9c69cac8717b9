// SPDX-License-Identifier: Apache-2.0

import type { Clock } from '@grove/kube'
import type { Random } from '../random.ts'
import type { RbacPolicyRule } from '../schema/types.generated.ts'
import type { AdmissionPlugin } from '../server/admission.ts'
import type { AccessAttributes, Authorizer } from '../server/authorization.ts'
import type { ServerContext } from '../server/context.ts'
import type { ApiRequest, UserInfo } from '../server/request.ts'
import type { Store } from '../store/index.ts'
import { aggregateClusterRoles } from './aggregation.ts'
import { createDefaultPolicy } from './default-policy.ts'
import { preventEscalation } from './escalation.ts'
import { type AccessDecision, RbacAuthorizer } from './rbac.ts'
import { ServiceAccountTokens } from './tokens.ts'

/** Authentication and authorization of a cluster. */
export interface Access {
  readonly authorize: Authorizer
  readonly tokens: ServiceAccountTokens
  /** Admission plugins of the authorization mode. */
  readonly admission: readonly AdmissionPlugin[]
  decide(attributes: AccessAttributes): AccessDecision | Promise<AccessDecision>
  /** Returns the rules of a user in a namespace that can be enumerated. */
  rulesFor(user: UserInfo, namespace: string): readonly RbacPolicyRule[]
  /** Returns the user of the bearer token; undefined without a valid token. */
  authenticate(headers: ApiRequest['headers']): Promise<UserInfo | undefined>
  /** Creates the objects that authorization needs. Returns a function that stops it. */
  start(context: ServerContext): () => void
}

export type AuthorizationMode = 'rbac' | 'always-allow'

export interface AccessOptions {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly mode: AuthorizationMode
  /** Replaces the authorization mode. */
  readonly authorize?: Authorizer
}

export function createAccess(options: AccessOptions): Access {
  const tokens = new ServiceAccountTokens(options)
  const authenticate: Access['authenticate'] = async headers => {
    const token = bearerToken(headers.authorization)
    const verified = token === undefined ? undefined : await tokens.verify(token)
    return verified?.ok ? verified.user : undefined
  }
  if (options.mode === 'rbac' && !options.authorize)
    return { ...rbacAccess(options.store), tokens, authenticate }
  const authorize = options.authorize ?? (() => undefined)
  return {
    authorize,
    tokens,
    authenticate,
    admission: [],
    async decide(attributes) {
      const rejection = await authorize(attributes)
      return { allowed: rejection === undefined, reason: rejection ?? '' }
    },
    rulesFor: () => everything,
    start: () => () => {},
  }
}

function rbacAccess(store: Store): Omit<Access, 'tokens' | 'authenticate'> {
  const rbac = new RbacAuthorizer(store)
  return {
    authorize: rbac.authorize,
    admission: [preventEscalation(rbac)],
    decide: rbac.decide,
    rulesFor: (user, namespace) => rbac.rulesFor(user, namespace),
    start(context) {
      createDefaultPolicy(context)
      const stopAggregation = aggregateClusterRoles(context.store)
      return () => {
        stopAggregation()
        rbac.stop()
      }
    },
  }
}

const everything: readonly RbacPolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

function bearerToken(header: string | undefined): string | undefined {
  const [scheme, token, ...rest] = header?.trim().split(/ +/) ?? []
  return scheme?.toLowerCase() === 'bearer' && rest.length === 0 ? token : undefined
}
