// SPDX-License-Identifier: Apache-2.0

import type { StructuralSchema } from '../crds/structural-schema.ts'

/**
 * Returns every schema within one, by path. `spec.template.cliques[].name` is a property of list items, `{}` the values
 * of a map, and the empty path the schema itself.
 */
export function schemaPaths(schema: StructuralSchema): Map<string, StructuralSchema> {
  const found = new Map<string, StructuralSchema>()
  visit(schema, '')
  return found

  function visit(part: StructuralSchema, path: string): void {
    found.set(path, part)
    for (const [name, member] of Object.entries(part.properties ?? {}))
      visit(member, path === '' ? name : `${path}.${name}`)
    if (part.items) visit(part.items, `${path}[]`)
    if (part.additionalProperties) visit(part.additionalProperties, `${path}{}`)
  }
}
