// SPDX-License-Identifier: Apache-2.0

export { type SchedulerBackends, schedulerBackends } from './backends/registry.ts'
export { isAvailable } from './operator.ts'
export type { EventSink } from './operator-context.ts'
export { type RenderContext, type RenderedObject, render, renderTopologies } from './render.ts'
export { resources } from './resources.ts'
export { type RunningOperator, type StartOptions, startOperator } from './start-operator.ts'
export type { Stored, StoredSet } from './stored.ts'
