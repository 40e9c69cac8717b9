// SPDX-License-Identifier: Apache-2.0

export type * from './types.ts'
