// SPDX-License-Identifier: Apache-2.0

export { defaultSchedulerName, snapshotFrom } from './snapshot/index.ts'
export type * from './types.ts'
