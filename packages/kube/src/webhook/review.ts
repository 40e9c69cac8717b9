// SPDX-License-Identifier: Apache-2.0

// From the bytes of an AdmissionReview to the bytes of its answer. Always an answer, whatever comes in and whatever the
// handler does: failures are told inside the review, where the API server looks for them.
import { type Logger, messageOf } from '../log/index.ts'
import { type AdmissionRequest, type AdmissionResponse, errored } from './admission.ts'

export interface AdmissionContext {
  /** Aborted when the API server no longer waits. */
  readonly signal: AbortSignal
  readonly log: Logger
}

export type AdmissionHandler = (
  request: AdmissionRequest,
  context: AdmissionContext,
) => AdmissionResponse | Promise<AdmissionResponse>

/** A review of this many bytes or more is refused. */
export const reviewLimitBytes = 7 * 1024 * 1024

const versions: ReadonlySet<string> = new Set(['admission.k8s.io/v1', 'admission.k8s.io/v1beta1'])
const currentVersion = 'admission.k8s.io/v1'
const operations: ReadonlySet<string> = new Set(['CREATE', 'UPDATE', 'DELETE', 'CONNECT'])

export interface ReviewBody {
  readonly contentType: string | undefined
  /** `too-large` when the limit was reached while reading. */
  readonly body: Buffer | 'too-large'
}

/** The answer as JSON text. `onPanic` hears of a handler that threw. */
export async function answerReview(
  { contentType, body }: ReviewBody,
  handler: AdmissionHandler,
  context: AdmissionContext,
  onPanic: (error: unknown) => void,
): Promise<string> {
  if (body === 'too-large')
    return render(errored(413, `request entity is too large; limit is ${reviewLimitBytes} bytes`))
  if (body.length === 0) return render(errored(400, 'request body is empty'))
  if (contentType !== 'application/json')
    return render(errored(400, `contentType=${contentType ?? ''}, expected application/json`))
  const review = decode(body)
  if ('problem' in review) return render(errored(400, review.problem))
  const { request, apiVersion } = review
  const log = context.log.child({
    operation: request.operation,
    resource: request.resource?.resource,
    namespace: request.namespace,
    name: request.name,
    user: request.userInfo?.username,
    requestID: request.uid,
  })
  let response: AdmissionResponse
  try {
    response = await handler(request, { ...context, log })
    log.info('Admission request answered', {
      allowed: response.allowed,
      code: response.code,
      // Denials are for the user; what could not be judged is for us.
      ...(response.code !== 200 && response.code !== 403 && { problem: response.message }),
    })
  } catch (error) {
    onPanic(error)
    log.error('The admission handler failed', { error })
    response = errored(500, `panic: ${messageOf(error)} [recovered]`)
  }
  return render(response, request.uid, apiVersion)
}

/** Refuses operations that no API server sends, before the handler sees them. */
export function validating(handler: AdmissionHandler): AdmissionHandler {
  return (request, context) =>
    operations.has(request.operation)
      ? handler(request, context)
      : errored(400, `unknown operation "${request.operation ?? ''}"`)
}

function decode(
  body: Buffer,
): { readonly request: AdmissionRequest; readonly apiVersion: string } | { readonly problem: string } {
  let review: unknown
  try {
    review = JSON.parse(body.toString('utf8'))
  } catch (error) {
    return { problem: `couldn't get version/kind; json parse error: ${messageOf(error)}` }
  }
  if (typeof review !== 'object' || review === null) return { problem: 'the review is not an object' }
  const { apiVersion = currentVersion, kind = 'AdmissionReview', request } = review as Record<string, unknown>
  if (typeof apiVersion !== 'string' || !versions.has(apiVersion) || kind !== 'AdmissionReview')
    return { problem: `no kind "${String(kind)}" is registered for version "${String(apiVersion)}"` }
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
      status: { metadata: {}, ...(message && { message }), ...(reason && { reason }), code },
      ...(patch && { patch: Buffer.from(JSON.stringify(patch)).toString('base64'), patchType: 'JSONPatch' }),
      ...(warnings?.length && { warnings }),
    },
  })
}
