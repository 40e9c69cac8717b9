// SPDX-License-Identifier: Apache-2.0

export * from './duration.ts'
export * from './equality.ts'
export * from './field-error.ts'
export * from './json-value.ts'
export * from './names.ts'
export * from './object-meta.ts'
export * from './quantity.ts'
export * from './structural-schema/index.ts'
