// SPDX-License-Identifier: Apache-2.0

// Names, labels, conditions and other constants of the API. Programs that need no admission, schemas or hashes import
// this entry, which loads fast.
export * from './annotations.ts'
export * from './conditions.ts'
export * from './environment.ts'
export * from './error-codes.ts'
export * from './events.ts'
export * from './finalizers.ts'
export * from './kinds.ts'
export * from './labels.ts'
export * from './names.ts'
export * from './replica-limits.ts'
export * from './schedulers.ts'
