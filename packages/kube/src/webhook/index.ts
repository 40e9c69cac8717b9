// SPDX-License-Identifier: Apache-2.0

export {
  type AdmissionRequest,
  type AdmissionResponse,
  allowed,
  denied,
  errored,
  type GroupVersionKind,
  type GroupVersionResource,
  patched,
} from './admission.ts'
export { diff as jsonPatch } from './json-patch.ts'
export {
  type AdmissionContext,
  type AdmissionHandler,
  answerReview,
  reviewLimitBytes,
  validating,
} from './review.ts'
export { WebhookServer, type WebhookServerOptions } from './server.ts'
