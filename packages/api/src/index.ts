// SPDX-License-Identifier: Apache-2.0

export * from './annotations.ts'
export * from './conditions.ts'
export * from './environment.ts'
export * from './error-codes.ts'
export * from './events.ts'
export * from './finalizers.ts'
export * from './kinds.ts'
export type * from './kubernetes/index.ts'
export * from './labels.ts'
export * from './names.ts'
export * from './schedulers.ts'
export type * from './types/index.ts'
