// SPDX-License-Identifier: Apache-2.0

import { customResourceDefinitions } from '@grove/api/crds'
import { printObjects } from '../terminal/print-objects.ts'

export function crds(options: { output: string }): void {
  printObjects(customResourceDefinitions, options.output)
}
