// SPDX-License-Identifier: Apache-2.0
import type { Environment } from '@marcbachmann/cel-js'

export function registerQuantityFunctions(_environment: Environment): void {}
