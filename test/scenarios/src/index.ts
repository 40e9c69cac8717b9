// SPDX-License-Identifier: Apache-2.0

export { installCustomResources } from './custom-kinds.ts'
export {
  OperatorProcess,
  type OperatorProcessOptions,
  operatorUser,
  startOperatorProcess,
} from './operator-process.ts'
export { Stage } from './stage.ts'
export { stories } from './stories/index.ts'
export { computeDomainDefinition } from './stories/mnnvl.ts'
export type { Story } from './story.ts'
