// SPDX-License-Identifier: Apache-2.0

export { adminClient } from './admin-client.ts'
export { admissionsPerSecond, admitSets } from './admissions.ts'
export { installCustomResources } from './custom-kinds.ts'
export { hostileSets } from './fuzz/hostile-sets.ts'
export { Harness } from './harness.ts'
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
export type { Scenario } from './scenario.ts'
export { scenarios } from './scenarios/index.ts'
export { computeDomainDefinition } from './scenarios/mnnvl.ts'
export { schedulerAccess } from './scheduler-access.ts'
export { ServiceProxy } from './service-proxy.ts'
export { webhookTrustTests } from './webhook-trust.ts'
