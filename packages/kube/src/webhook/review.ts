// SPDX-License-Identifier: Apache-2.0

// From the bytes of an AdmissionReview to the bytes of its response. Every input and every failure of a handler gets
// a response, because API servers look for failures inside the review.
import type { LogFields, Logger } from '../log/index.ts'
import { messageOf } from '../log/message.ts'
import { type AdmissionRequest, type AdmissionResponse, errored } from './admission.ts'
import { reviewLimitBytes } from './limits.ts'

export interface AdmissionContext {
  /** Aborted when the API server no longer waits. */
  readonly signal: AbortSignal
  readonly log: Logger
}

export type AdmissionHandler = (
  request: AdmissionRequest,
  context: AdmissionContext,
) => AdmissionResponse | Promise<AdmissionResponse>

const versions: ReadonlySet<string> = new Set(['admission.k8s.io/v1', 'admission.k8s.io/v1beta1'])
const currentVersion = 'admission.k8s.io/v1'
const operations: ReadonlySet<string> = new Set(['CREATE', 'UPDATE', 'DELETE', 'CONNECT'])

/** Messages repeat input of the client and are copied into audit logs, so longer ones are truncated. */
const messageLimit = 128 * 1024
/** The same limit for fields of log records; names and users of Kubernetes are shorter. */
const fieldLimit = 256
/** A request may break a rule in each of a thousand cliques. */
const ruleLimit = 20
/** API servers send `kind`, `apiVersion` and `request.uid` first. */
const headBytes = 512

export interface ReviewBody {
  readonly contentType: string | undefined
  /** `too-large` if the limit was reached while reading. */
  readonly body: Buffer | 'too-large'
}

/** A review that can be decided: the request and the version of its response. */
export interface OpenReview {
  readonly request: AdmissionRequest
  readonly apiVersion: string
}

/** The result of a decision: the response as JSON, and a log record. */
export interface Reviewed {
  readonly text: string
  readonly record: ReviewRecord
}

export interface ReviewRecord {
  readonly level: 'info' | 'error'
  readonly message: string
  readonly fields: LogFields
}

/** Checks without parsing whether a body can be a review. If not, returns the rejection as JSON. */
export function rejectionOf({ contentType, body }: ReviewBody): string | undefined {
  if (body === 'too-large')
    return render(errored(413, `request entity is too large; limit is ${reviewLimitBytes} bytes`))
  if (body.length === 0) return render(errored(400, 'request body is empty'))
  if (contentType !== 'application/json')
    return render(errored(400, `contentType=${contentType ?? ''}, expected application/json`))
  return undefined
}

/** Parses a review. Returns the rejection as JSON if it is not one. */
export function openReview(body: Buffer): OpenReview | string {
  const review = decode(body)
  return 'problem' in review ? render(errored(400, review.problem)) : review
}

/** Runs a synchronous or asynchronous decision about an open review. If the decision throws, the code is 500. */
export async function closeReview(
  { request, apiVersion }: OpenReview,
  decide: () => AdmissionResponse | Promise<AdmissionResponse>,
): Promise<Reviewed> {
  const uid = typeof request.uid === 'string' ? request.uid : ''
  try {
    const response = await decide()
    const { allowed, code, message, rules = [] } = response
    return {
      text: render(response, uid, apiVersion),
      record: {
        level: 'info',
        message: 'Admission request decided',
        fields: {
          ...requestFields(request),
          allowed,
          code,
          ...(!allowed && { rules: rules.slice(0, ruleLimit).map(rule => cut(rule, fieldLimit)) }),
          // Denials are for the user; reviews that failed are for the operator of the webhook.
          ...(code !== 200 && code !== 403 && message && { problem: cut(message, fieldLimit) }),
        },
      },
    }
  } catch (error) {
    return {
      text: render(errored(500, `panic: ${messageOf(error)} [recovered]`), uid, apiVersion),
      record: {
        level: 'error',
        message: 'Admission handler failed',
        fields: { ...requestFields(request), error },
      },
    }
  }
}

/** Decides a review in this process, for handlers that need no isolation. `onPanic` is called if the handler throws. */
export async function decideReview(
  body: ReviewBody,
  handler: AdmissionHandler,
  context: AdmissionContext,
  onPanic: () => void,
): Promise<string> {
  const rejection = rejectionOf(body)
  if (rejection !== undefined || body.body === 'too-large') return rejection ?? ''
  const review = openReview(body.body)
  if (typeof review === 'string') return review
  const { request } = review
  const log = context.log.child(requestFields(request))
  const { text, record } = await closeReview(review, () => handler(request, { ...context, log }))
  context.log[record.level](record.message, record.fields)
  if (record.level === 'error') onPanic()
  return text
}

/**
 * Returns the response to a review without a decision, as JSON. Reads the uid from its usual position without parsing
 * the body, because an API server accepts no response without it.
 */
export function undecidedReview(body: Buffer, response: AdmissionResponse): string {
  const head = body.toString('latin1', 0, headBytes)
  const [, uid] = /"request":\s*\{\s*"uid":\s*"([\w-]{1,64})"/.exec(head) ?? []
  const [, apiVersion] = /"apiVersion":\s*"(admission\.k8s\.io\/v1(?:beta1)?)"/.exec(head) ?? []
  return render(response, uid, apiVersion)
}

/** Rejects operations that no API server sends, before the handler sees them. */
export function validating(handler: AdmissionHandler): AdmissionHandler {
  return (request, context) => unknownOperation(request) ?? handler(request, context)
}

/** The rejection of an operation that no API server sends. */
export function unknownOperation({ operation }: AdmissionRequest): AdmissionResponse | undefined {
  return operations.has(operation) ? undefined : errored(400, `unknown operation "${operation ?? ''}"`)
}

function decode(body: Buffer): OpenReview | { readonly problem: string } {
  let review: unknown
  try {
    review = JSON.parse(body.toString('utf8'))
  } catch (error) {
    return { problem: `couldn't get version/kind; json parse error: ${messageOf(error)}` }
  }
  if (typeof review !== 'object' || review === null) return { problem: 'the review is not an object' }
  const { apiVersion = currentVersion, kind = 'AdmissionReview', request } = review as Record<string, unknown>
  if (typeof apiVersion !== 'string' || !versions.has(apiVersion) || kind !== 'AdmissionReview')
    return { problem: `no kind ${quoted(kind)} is registered for version ${quoted(apiVersion)}` }
  if (typeof request !== 'object' || request === null || Array.isArray(request))
    return { problem: 'the review contains no request' }
  return { request: request as AdmissionRequest, apiVersion }
}

function render(response: AdmissionResponse, uid = '', apiVersion = currentVersion): string {
  const { allowed, code, reason, message, patch, warnings } = response
  return JSON.stringify({
    kind: 'AdmissionReview',
    apiVersion,
    response: {
      uid,
      allowed,
      status: {
        metadata: {},
        ...(message && { message: cut(message, messageLimit) }),
        ...(reason && { reason }),
        code,
      },
      ...(patch && { patch: Buffer.from(JSON.stringify(patch)).toString('base64'), patchType: 'JSONPatch' }),
      ...(warnings?.length && { warnings }),
    },
  })
}

function quoted(value: unknown): string {
  return typeof value === 'string' ? `"${cut(value, fieldLimit)}"` : `of type ${typeof value}`
}

/** Only short strings: clients other than API servers may send anything. */
function requestFields(request: AdmissionRequest): LogFields {
  const short = (value: unknown) => (typeof value === 'string' ? cut(value, fieldLimit) : undefined)
  return {
    operation: short(request.operation),
    resource: short(request.resource?.resource),
    namespace: short(request.namespace),
    name: short(request.name),
    user: short(request.userInfo?.username),
    requestID: short(request.uid),
  }
}

function cut(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit)}… (${text.length} characters)`
}
