// SPDX-License-Identifier: Apache-2.0

import { fieldError } from '@grove/apimachinery'
import { type KubeObject, objectKey } from '../object.ts'
import { builtIn } from '../registry/built-in.ts'
import { storages } from '../registry/storages.ts'
import type {
  AuthenticationBoundObjectReference,
  AuthenticationTokenRequest,
} from '../schema/types.generated.ts'
import { parseBody } from '../server/body.ts'
import { type ServerContext, timestamp } from '../server/context.ts'
import { decodeObject } from '../server/decode-object.ts'
import { ensureNamespace } from '../server/metadata.ts'
import { presenterOf, type SubresourceHandler, withOptions, writeRequestOf } from '../server/resource-call.ts'
import { apiError } from '../server/status.ts'
import { objectIn, storageOf } from '../store/index.ts'
import { type BoundObject, type ServiceAccountTokens, tokenIssuerName } from './tokens.ts'

const defaultSeconds = 3600
const minimumSeconds = 600
const maximumSeconds = 2 ** 32

const storage = storageOf<AuthenticationTokenRequest>('tokenrequests.authentication.k8s.io')

const tokenRequests = builtIn({
  type: 'authentication/v1.TokenRequest',
  group: 'authentication.k8s.io',
  plural: 'tokenrequests',
  namespaced: true,
  verbs: ['create'],
  strategy: { hasStatus: false },
})

/** `serviceaccounts/token`: returns a token and stores nothing. */
export function handleTokenRequest(tokens: ServiceAccountTokens): SubresourceHandler {
  return async call => {
    const { context, request, resource, info } = call
    const write = withOptions(call, writeRequestOf(call).options, resource)
    const body = parseBody(request, tokenRequests.kind, tokenRequests.struct)
    const draft = decodeObject(
      context.registry,
      tokenRequests,
      body,
      write.options.fieldValidation,
      write.warn,
    )
    const account = context.store.get(resource.storage, objectKey(info.namespace, info.name))
    if (!account) throw apiError.notFound(resource, info.name)
    ensureNamespace(draft, info.namespace)
    const { metadata, spec = {} } = objectIn(storage, draft, tokenRequests.storage)!
    checkMetadata(metadata, account)
    const audiences = spec.audiences?.length ? spec.audiences : [tokenIssuerName]
    const expirationSeconds = spec.expirationSeconds ?? defaultSeconds
    checkSeconds(expirationSeconds)
    const bound = spec.boundObjectRef ? findBound(context, account, spec.boundObjectRef) : []
    const now = context.clock.now()
    const response: KubeObject = {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: {
        name: info.name,
        namespace: info.namespace,
        uid: account.metadata.uid,
        creationTimestamp: timestamp(now),
      },
      spec: {
        audiences,
        expirationSeconds,
        boundObjectRef: spec.boundObjectRef ?? null,
      },
      status: {
        token: await tokens.issueBound(account, { audiences, expirationSeconds, bound }),
        expirationTimestamp: timestamp(now + expirationSeconds * 1000),
      },
    }
    return presenterOf(call, tokenRequests).object(201, response, write.warnings)
  }
}

function checkMetadata(asked: KubeObject['metadata'], { metadata }: KubeObject): void {
  const kind = { group: tokenRequests.group, kind: tokenRequests.kind }
  if (asked.name && asked.name !== metadata.name)
    throw apiError.invalid(kind, metadata.name!, [
      fieldError.invalid('metadata.name', asked.name, 'must match the service account name if specified'),
    ])
  if (asked.uid && asked.uid !== metadata.uid)
    throw apiError.conflict(
      { group: tokenRequests.group, plural: tokenRequests.kind },
      metadata.name!,
      `the UID in the token request (${asked.uid}) does not match the UID of the service account (${metadata.uid})`,
    )
}

function checkSeconds(seconds: number): void {
  if (seconds < minimumSeconds)
    throw invalidSeconds(seconds, 'may not specify a duration less than 10 minutes')
  if (seconds > maximumSeconds)
    throw invalidSeconds(seconds, 'may not specify a duration larger than 2^32 seconds')
}

function invalidSeconds(seconds: number, why: string): Error {
  return apiError.invalid({ group: tokenRequests.group, kind: tokenRequests.kind }, '', [
    fieldError.invalid('spec.expirationSeconds', seconds, why),
  ])
}

const boundStorages = { Pod: storages.pods, Secret: storages.secrets, Node: storages.nodes } as const

function findBound(
  context: ServerContext,
  account: KubeObject,
  { apiVersion = '', kind = '', name = '', uid }: AuthenticationBoundObjectReference,
): BoundObject[] {
  if (apiVersion.includes('/') || !isBindable(kind))
    throw apiError.badRequest(`cannot bind token to object of type ${describeKind(apiVersion, kind)}`)
  const plural = boundStorages[kind]
  const object = context.store.get(
    plural,
    objectKey(kind === 'Node' ? undefined : account.metadata.namespace, name),
  )
  if (!object) throw apiError.notFound({ group: '', plural }, name)
  if (uid && uid !== object.metadata.uid)
    throw apiError.conflict(
      { group: '', plural: kind },
      name,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    )
  const bound = [{ kind, name, uid: object.metadata.uid! }]
  if (kind !== 'Pod') return bound
  const spec = objectIn(storages.pods, object, plural)?.spec
  if (spec?.serviceAccountName !== account.metadata.name)
    throw apiError.badRequest(
      `cannot bind token for serviceaccount "${account.metadata.name}" to pod running with different serviceaccount name.`,
    )
  if (!spec?.nodeName) return bound
  const node = context.store.get('nodes', spec.nodeName)
  return [...bound, { kind: 'Node', name: spec.nodeName, uid: node?.metadata.uid ?? '' }]
}

function isBindable(kind: string): kind is keyof typeof boundStorages {
  return kind in boundStorages
}

function describeKind(apiVersion: string, kind: string): string {
  const slash = apiVersion.indexOf('/')
  const group = slash < 0 ? '' : apiVersion.slice(0, slash)
  return `${group}/${slash < 0 ? apiVersion : apiVersion.slice(slash + 1)}, Kind=${kind}`
}
