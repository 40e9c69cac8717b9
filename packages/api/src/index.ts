// SPDX-License-Identifier: Apache-2.0

export * from './admission/index.ts'
export * from './configuration/index.ts'
export * from './constants.ts'
export * from './crds/index.ts'
export * from './gang-status.ts'
export type * from './kubernetes/index.ts'
export * from './revision/index.ts'
export type * from './types/index.ts'
