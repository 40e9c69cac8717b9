// SPDX-License-Identifier: Apache-2.0

// Questions about access, asked as objects: they are answered and never stored.
import type { KubeObject } from '../object.ts'
import type { BuiltInKind } from '../registry/built-in.ts'
import type { Evaluation } from '../registry/resource.ts'
import type {
  AuthorizationNonResourceAttributes,
  AuthorizationResourceAttributes,
  AuthorizationSubjectAccessReview,
} from '../schema/types.generated.ts'
import type { AccessAttributes } from '../server/authorization.ts'
import type { ServerContext } from '../server/context.ts'
import type { UserInfo } from '../server/request.ts'

const group = 'authorization.k8s.io'
const askOnly = { group, verbs: ['create'] as const, strategy: { hasStatus: false } }

export const reviewKinds: readonly BuiltInKind[] = [
  {
    ...askOnly,
    type: 'authorization/v1.SelfSubjectAccessReview',
    plural: 'selfsubjectaccessreviews',
    namespaced: false,
    evaluate: reviewAccess,
  },
  {
    ...askOnly,
    type: 'authorization/v1.SubjectAccessReview',
    plural: 'subjectaccessreviews',
    namespaced: false,
    evaluate: reviewAccess,
  },
  {
    ...askOnly,
    type: 'authorization/v1.LocalSubjectAccessReview',
    plural: 'localsubjectaccessreviews',
    namespaced: true,
    evaluate: reviewAccess,
  },
  {
    type: 'authentication/v1.SelfSubjectReview',
    group: 'authentication.k8s.io',
    plural: 'selfsubjectreviews',
    namespaced: false,
    verbs: ['create'],
    strategy: { hasStatus: false },
    evaluate: async (object, _context, { name, uid, groups, extra }) => ({
      ...object,
      status: {
        userInfo: { username: name, ...(uid && { uid }), groups: [...groups], ...(extra && { extra }) },
      },
    }),
  },
]

async function reviewAccess(
  object: KubeObject,
  context: ServerContext,
  user: UserInfo,
): ReturnType<Evaluation> {
  const { spec } = object as unknown as AuthorizationSubjectAccessReview
  // A review of oneself names nobody.
  const subject: UserInfo =
    object.kind === 'SelfSubjectAccessReview'
      ? user
      : { name: spec?.user ?? '', groups: spec?.groups ?? [], ...(spec?.uid && { uid: spec.uid }) }
  const refusal = await context.authorize(
    attributesOf(subject, spec?.resourceAttributes, spec?.nonResourceAttributes),
  )
  return {
    ...object,
    status: refusal === undefined ? { allowed: true } : { allowed: false, reason: refusal },
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
