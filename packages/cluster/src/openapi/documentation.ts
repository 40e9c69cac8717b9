// SPDX-License-Identifier: Apache-2.0

import { readFileSync } from 'node:fs'

type Documentation = Readonly<Record<string, Readonly<Record<string, string>>>>

let documentation: Documentation | undefined

/** What Kubernetes says about a type (empty field) or one of its fields. Read on first use: few servers are asked. */
export function describe(type: string, field = ''): string {
  documentation ??= JSON.parse(
    readFileSync(new URL('../schema/documentation.generated.json', import.meta.url), 'utf8'),
  ) as Documentation
  return documentation[type]?.[field] ?? ''
}
