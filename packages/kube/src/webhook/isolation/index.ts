// SPDX-License-Identifier: Apache-2.0

// What the code of webhooks and their process needs, and nothing that speaks to a cluster: each import costs memory in
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
