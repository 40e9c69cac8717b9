// SPDX-License-Identifier: Apache-2.0

export { operatorClusterRole, operatorRole } from './access/cluster-role.ts'
export { type AdmissionOptions, admissionHandlers } from './admission/handlers.ts'
export { webhookConfigurations } from './admission/webhook-configurations.ts'
export { webhookPaths } from './admission/webhook-rules.ts'
export type { EventSink } from './apply/intent.ts'
export { nativeGangKinds, resources } from './caches/resources.ts'
export type { StoredSet } from './layout/stored.ts'
export { operatorMetrics } from './metrics/catalogue.ts'
export {
  type Handback,
  type HandbackObjects,
  type HandbackPatch,
  planHandback,
} from './ownership/handback.ts'
export { isAvailable } from './podcliqueset/status.ts'
export { recordedEvents } from './process/event-records.ts'
export { type RunningOperator, type StartOptions, startOperator } from './process/start-operator.ts'
export { type RenderContext, type RenderedObject, render, renderTopologies } from './render.ts'
export { changeCause, numberOf, recordOf } from './revision/history.ts'
export { type SchedulerBackends, schedulerBackends } from './schedulers/registry.ts'
