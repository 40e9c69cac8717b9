// SPDX-License-Identifier: Apache-2.0

export {
  Controller,
  type ControllerOptions,
  type Source,
  sourceOf,
} from '../../../kube/src/controller/index.ts'
export { type Logger, silentLogger } from '../../../kube/src/log/index.ts'
export { type Backoff, WorkQueue } from '../../../kube/src/queue/index.ts'
