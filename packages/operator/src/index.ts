// SPDX-License-Identifier: Apache-2.0

export { type SchedulerBackends, schedulerBackends } from './backends/registry.ts'
export { type RenderContext, type RenderedObject, render, renderTopologies } from './render.ts'
export type { Stored, StoredSet } from './stored.ts'
