// SPDX-License-Identifier: Apache-2.0

// Access reviews: the API server evaluates them and does not store them.
import type { Access } from '../access/index.ts'
import { type BuiltInKind, kind } from '../registry/built-in.ts'
import type { Evaluation } from '../registry/resource.ts'
import type {
  AuthorizationNonResourceAttributes,
  AuthorizationResourceAttributes,
  AuthorizationSelfSubjectRulesReview,
  AuthorizationSubjectAccessReview,
} from '../schema/types.generated.ts'
import type { AccessAttributes } from '../server/authorization.ts'
import type { UserInfo } from '../server/request.ts'
import { apiError } from '../server/status.ts'

const reviewOnly = {
  group: 'authorization.k8s.io',
  verbs: ['create'] as const,
  strategy: { hasStatus: false },
}

export function accessReviewKinds(access: Access): BuiltInKind[] {
  const evaluate = reviewAccess(access)
  return [
    kind<AuthorizationSubjectAccessReview>({
      ...reviewOnly,
      type: 'authorization/v1.SelfSubjectAccessReview',
      plural: 'selfsubjectaccessreviews',
      namespaced: false,
      evaluate,
    }),
    kind<AuthorizationSubjectAccessReview>({
      ...reviewOnly,
      type: 'authorization/v1.SubjectAccessReview',
      plural: 'subjectaccessreviews',
      namespaced: false,
      evaluate,
    }),
    kind<AuthorizationSubjectAccessReview>({
      ...reviewOnly,
      type: 'authorization/v1.LocalSubjectAccessReview',
      plural: 'localsubjectaccessreviews',
      namespaced: true,
      evaluate,
    }),
    kind<AuthorizationSelfSubjectRulesReview>({
      ...reviewOnly,
      type: 'authorization/v1.SelfSubjectRulesReview',
      plural: 'selfsubjectrulesreviews',
      namespaced: false,
      evaluate: reviewRules(access),
    }),
  ]
}

function reviewAccess(access: Access): Evaluation<AuthorizationSubjectAccessReview> {
  return async (object, _context, user) => {
    const { spec } = object
    // A self review has no user in its spec.
    const subject: UserInfo =
      object.kind === 'SelfSubjectAccessReview'
        ? user
        : { name: spec?.user ?? '', groups: spec?.groups ?? [], ...(spec?.uid && { uid: spec.uid }) }
    const { allowed, reason } = await access.decide(
      attributesOf(subject, spec?.resourceAttributes, spec?.nonResourceAttributes),
    )
    return { ...object, status: { allowed, ...(reason && { reason }) } }
  }
}

function reviewRules(access: Access): Evaluation<AuthorizationSelfSubjectRulesReview> {
  return async (object, _context, user) => {
    const { namespace = '' } = object.spec ?? {}
    if (!namespace) throw apiError.badRequest('no namespace on request')
    const rules = access.rulesFor(user, namespace)
    const status = {
      resourceRules: rules
        .filter(({ resources }) => resources?.length)
        .map(({ verbs, apiGroups, resources, resourceNames }) => ({
          verbs,
          apiGroups,
          resources,
          ...(resourceNames?.length && { resourceNames }),
        })),
      nonResourceRules: rules
        .filter(({ nonResourceURLs }) => nonResourceURLs?.length)
        .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
      incomplete: false,
    }
    return { ...object, status }
  }
}

function attributesOf(
  user: UserInfo,
  resource: AuthorizationResourceAttributes | undefined,
  path: AuthorizationNonResourceAttributes | undefined,
): AccessAttributes {
  return {
    user,
    verb: resource?.verb ?? path?.verb ?? '',
    isResource: resource !== undefined,
    group: resource?.group ?? '',
    version: resource?.version ?? '',
    resource: resource?.resource ?? '',
    subresource: resource?.subresource ?? '',
    namespace: resource?.namespace ?? '',
    name: resource?.name ?? '',
    path: path?.path ?? '',
  }
}
