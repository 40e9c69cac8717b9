// SPDX-License-Identifier: Apache-2.0

// Identity reviews: the API server evaluates them and does not store them.
import type { Access } from '../access/index.ts'
import { type BuiltInKind, kind } from '../registry/built-in.ts'
import type { Evaluation } from '../registry/resource.ts'
import type {
  AuthenticationSelfSubjectReview,
  AuthenticationTokenReview,
  AuthenticationUserInfo,
} from '../schema/types.generated.ts'
import type { UserInfo } from '../server/request.ts'
import { apiError } from '../server/status.ts'

const group = 'authentication.k8s.io'
const reviewOnly = { group, namespaced: false, verbs: ['create'] as const, strategy: { hasStatus: false } }

export function identityReviewKinds(access: Access): BuiltInKind[] {
  return [
    kind<AuthenticationSelfSubjectReview>({
      ...reviewOnly,
      type: 'authentication/v1.SelfSubjectReview',
      plural: 'selfsubjectreviews',
      evaluate: async (object, _context, user) => ({ ...object, status: { userInfo: toUserInfo(user) } }),
    }),
    kind<AuthenticationTokenReview>({
      ...reviewOnly,
      type: 'authentication/v1.TokenReview',
      plural: 'tokenreviews',
      evaluate: reviewToken(access),
    }),
  ]
}

function reviewToken({ tokens }: Access): Evaluation<AuthenticationTokenReview> {
  return async object => {
    const { spec } = object
    if (!spec?.token) throw apiError.badRequest('token is required for TokenReview in authentication')
    const verified = await tokens.verify(spec.token, spec.audiences?.length ? spec.audiences : undefined)
    const status = verified.ok
      ? { authenticated: true, user: toUserInfo(verified.user), audiences: [...verified.audiences] }
      : { user: {}, error: verified.error }
    return { ...object, status }
  }
}

function toUserInfo({ name, uid, groups, extra }: UserInfo): AuthenticationUserInfo {
  const copied = extra && Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]))
  return { username: name, ...(uid && { uid }), groups: [...groups], ...(copied && { extra: copied }) }
}
