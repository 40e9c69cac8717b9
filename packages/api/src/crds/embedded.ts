// SPDX-License-Identifier: Apache-2.0

// The Kubernetes schemas that the CRDs embed. One definition is one shared object: a pod spec has three lists of
// containers, and two CRDs have pod specs.
import file from './embedded.generated.json' with { type: 'json' }
import type { StructuralSchema } from './structural-schema.ts'

/** The pod spec, claim template and metrics have the fields of both versions. The first wins where they differ. */
export const embeddedKubernetesVersions: readonly string[] = file.kubernetes

interface Unlinked {
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, Unlinked>>
  readonly items?: Unlinked
  readonly additionalProperties?: Unlinked
}

const definitions = file.definitions as Readonly<Record<string, Unlinked>>
const linked = new Map<string, StructuralSchema>()

/**
 * By the short name of the Kubernetes definition, for example `core.v1.PodSpec`. Callers must not change the result.
 */
export function embedded(name: string): StructuralSchema {
  const known = linked.get(name)
  if (known) return known
  const definition = definitions[name]
  if (!definition) throw new Error(`no embedded schema ${name}`)
  const schema = link(definition)
  linked.set(name, schema)
  return schema
}

function link(schema: Unlinked): StructuralSchema {
  if (schema.$ref) return embedded(schema.$ref)
  const { properties, items, additionalProperties, ...rest } = schema
  return {
    ...rest,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, link(part)])),
    }),
    ...(items && { items: link(items) }),
    ...(additionalProperties && { additionalProperties: link(additionalProperties) }),
  }
}
