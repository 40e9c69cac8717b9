// SPDX-License-Identifier: Apache-2.0

export { operatorClusterRole, operatorRole } from './access/cluster-role.ts'
export { type AdmissionOptions, admissionHandlers, webhookPaths } from './admission/handlers.ts'
export { webhookConfigurations } from './admission/webhook-configurations.ts'
export { type SchedulerBackends, schedulerBackends } from './backends/registry.ts'
export type { EventSink } from './operator-context.ts'
export { isAvailable } from './podcliqueset/status.ts'
export { recordedEvents } from './process/event-records.ts'
export { type RenderContext, type RenderedObject, render, renderTopologies } from './render.ts'
export { resources } from './resources.ts'
export { changeCause, numberOf, recordOf } from './revision-history.ts'
export { type RunningOperator, type StartOptions, startOperator } from './start-operator.ts'
export type { StoredSet } from './stored.ts'
