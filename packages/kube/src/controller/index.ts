// SPDX-License-Identifier: Apache-2.0

export {
  Controller,
  type ControllerOptions,
  type Enqueue,
  type Reconcile,
  type ReconcileContext,
  type ReconcileResult,
  type Source,
} from './controller.ts'
export { ReconcileTimeout } from './running-calls.ts'
export { type KeyRequest, sourceOf } from './source.ts'
