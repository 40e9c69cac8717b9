// SPDX-License-Identifier: Apache-2.0

export * from './field-error.ts'
export * from './quantity.ts'
