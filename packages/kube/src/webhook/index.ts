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
export {
  type AdmissionContext,
  type AdmissionHandler,
  validating,
} from './review.ts'
export { WebhookServer, type WebhookServerOptions } from './server.ts'
