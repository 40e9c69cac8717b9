// SPDX-License-Identifier: Apache-2.0

export { catalogue } from './explain/catalogue.ts'
export { applyFix } from './explain/variants.ts'
export { plan } from './plan.ts'
export { defaultPolicy, unsupportedSettings } from './policy.ts'
export { defaultSchedulerName, snapshotFrom } from './snapshot/index.ts'
export type * from './types.ts'
