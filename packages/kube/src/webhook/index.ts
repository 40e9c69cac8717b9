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
export { IsolatedReviews, type IsolatedReviewsOptions } from './isolation/isolated-reviews.ts'
export { type IsolatedWebhook, type IsolatedWebhooks, serveReviews } from './isolation/serve-reviews.ts'
export {
  type AdmissionContext,
  type AdmissionHandler,
  validating,
} from './review.ts'
export { type ReviewHandler, WebhookServer, type WebhookServerOptions } from './server.ts'
