// SPDX-License-Identifier: Apache-2.0

import { isJsonObject, type JsonObject } from '@grove/apimachinery'
import type { KubeObject } from '../object.ts'
import type { Resource } from '../registry/resource.ts'
import type { AdmissionAttributes } from '../server/admission.ts'
import { apiVersionOf } from '../server/presentation.ts'
import { ApiError } from '../server/status.ts'

const optionKinds = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' }

/** Builds an AdmissionReview. `seenAs` is the version that the webhook receives. */
export function reviewRequest(uid: string, attributes: AdmissionAttributes, seenAs: Resource): JsonObject {
  const { resource, subresource, operation, user, namespace, name } = attributes
  const isNamespace = resource.group === '' && resource.plural === 'namespaces'
  const home = isNamespace ? name : namespace
  const options = {
    ...(operation !== 'CONNECT' && { kind: optionKinds[operation], apiVersion: 'meta.k8s.io/v1' }),
    ...attributes.options,
    ...(attributes.dryRun && { dryRun: ['All'] }),
  }
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid,
      kind: kindOf(attributes, seenAs),
      resource: { group: seenAs.group, version: seenAs.version, resource: seenAs.plural },
      ...(subresource && { subResource: subresource }),
      requestKind: kindOf(attributes, resource),
      requestResource: { group: resource.group, version: resource.version, resource: resource.plural },
      ...(subresource && { requestSubResource: subresource }),
      ...(name && { name }),
      ...(home && { namespace: home }),
      operation,
      userInfo: {
        username: user.name,
        ...(user.uid && { uid: user.uid }),
        groups: user.groups,
        ...(user.extra && { extra: user.extra }),
      },
      object: inVersion(attributes.object, resource, seenAs),
      oldObject: inVersion(attributes.oldObject, resource, seenAs),
      dryRun: attributes.dryRun,
      options,
    },
  }
}

/** A subresource may have another kind than its resource. */
function kindOf({ object, oldObject, objectKind }: AdmissionAttributes, resource: Resource) {
  const { group, version, kind } = objectKind ?? resource
  return { group, version, kind: (object ?? oldObject)?.kind ?? kind }
}

/** The versions of a kind differ only in apiVersion here. */
export function inVersion(object: KubeObject | undefined, from: Resource, to: Resource): KubeObject | null {
  if (!object) return null
  return from === to || object.apiVersion !== apiVersionOf(from)
    ? object
    : { ...object, apiVersion: apiVersionOf(to) }
}

export interface ReviewResponse {
  readonly allowed: boolean
  readonly result: JsonObject | undefined
  readonly warnings: readonly string[]
  /** The operations of the patch; undefined for no change. */
  readonly patch: unknown
}

export class InvalidResponse extends Error {}

/** Parses the response. Throws InvalidResponse if it is not a valid review. */
export function readResponse(uid: string, body: unknown, mutating: boolean): ReviewResponse {
  const review = isJsonObject(body) ? body : {}
  const { response } = review
  if (!isJsonObject(response)) throw new InvalidResponse('webhook response was absent')
  if (response.uid !== uid)
    throw new InvalidResponse(
      `expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid ?? '')}`,
    )
  if (review.apiVersion !== 'admission.k8s.io/v1' || review.kind !== 'AdmissionReview')
    throw new InvalidResponse(
      `expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got ${String(review.apiVersion)}, Kind=${String(review.kind)}`,
    )
  const warnings = Array.isArray(response.warnings) ? response.warnings.map(String) : []
  const result = isJsonObject(response.status) ? response.status : undefined
  return { allowed: response.allowed === true, result, warnings, patch: readPatch(response, mutating) }
}

function readPatch({ patch, patchType }: JsonObject, mutating: boolean): unknown {
  const hasPatch = typeof patch === 'string' && patch !== ''
  if (!mutating) {
    if (hasPatch) throw new InvalidResponse('validating webhook may not return response.patch')
    if (patchType != null) throw new InvalidResponse('validating webhook may not return response.patchType')
    return undefined
  }
  if (hasPatch && patchType == null)
    throw new InvalidResponse('webhook returned response.patch but not response.patchType')
  if (!hasPatch && patchType != null)
    throw new InvalidResponse('webhook returned response.patchType but not response.patch')
  if (!hasPatch) return undefined
  if (patchType !== 'JSONPatch')
    throw new InvalidResponse(`unsupported patch type ${JSON.stringify(patchType)}`)
  try {
    return JSON.parse(Buffer.from(patch, 'base64').toString('utf8'))
  } catch (error) {
    throw new InvalidResponse(`received undecodable patch in webhook response: ${(error as Error).message}`)
  }
}

/** Formats a rejection with the name and the message of the webhook. */
export function denial(hook: string, result: JsonObject = {}): ApiError {
  const deniedBy = `admission webhook ${JSON.stringify(hook)} denied the request`
  const text = (key: string) => (typeof result[key] === 'string' ? result[key] : '')
  const why = text('message') || text('reason')
  const code = typeof result.code === 'number' && result.code >= 400 ? result.code : 400
  return new ApiError(
    code,
    text('reason'),
    why ? `${deniedBy}: ${why}` : `${deniedBy} without explanation`,
    isJsonObject(result.details) ? result.details : undefined,
  )
}
