// SPDX-License-Identifier: Apache-2.0

import { customResourceDefinitions } from '@grove/api'
import { printObjects } from '../terminal/print.ts'

export function crds(options: { output: string }): void {
  printObjects(customResourceDefinitions, options.output)
}
