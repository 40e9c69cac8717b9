// SPDX-License-Identifier: Apache-2.0

import { customResourceDefinitions } from '@grove/api'
import { stringify } from 'yaml'

export function crds(options: { output: string }): void {
  const all = customResourceDefinitions()
  process.stdout.write(
    options.output === 'json'
      ? `${JSON.stringify(all, null, 2)}\n`
      : all.map(crd => `---\n${stringify(crd, { aliasDuplicateObjects: false, lineWidth: 0 })}`).join(''),
  )
}
