// SPDX-License-Identifier: Apache-2.0

// The imports of webhook code and its process. No module here talks to a cluster, because each import costs memory in
// every review process.
export {
  type AdmissionRequest,
  type AdmissionResponse,
  allowed,
  denied,
  errored,
  patched,
} from '../admission.ts'
export { unknownOperation } from '../review.ts'
export { type IsolatedWebhook, type IsolatedWebhooks, serveReviews } from './serve-reviews.ts'
