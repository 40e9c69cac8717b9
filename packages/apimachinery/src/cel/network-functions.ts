// SPDX-License-Identifier: Apache-2.0
import type { Environment } from '@marcbachmann/cel-js'

export function registerNetworkFunctions(_environment: Environment): void {}
