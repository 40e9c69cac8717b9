// SPDX-License-Identifier: Apache-2.0

export { installCustomResources, Stage } from './stage.ts'
export { stories } from './stories/index.ts'
export type { Story } from './story.ts'
