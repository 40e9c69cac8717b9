// SPDX-License-Identifier: Apache-2.0

export { installCustomResources } from './custom-kinds.ts'
export { hostileSets } from './fuzz/hostile-sets.ts'
export { metricsAccessTests } from './metrics-access.ts'
export { embeddedHost, type OperatorHost, realHost } from './operator-host.ts'
export {
  type InstalledOperator,
  installOperator,
  OperatorProcess,
  type OperatorProcessOptions,
  operatorNamespace,
  operatorUser,
  startOperatorProcess,
} from './operator-process.ts'
export { Stage } from './stage.ts'
export { stories } from './stories/index.ts'
export { computeDomainDefinition } from './stories/mnnvl.ts'
export type { Story } from './story.ts'
export { webhookTrustTests } from './webhook-trust.ts'
