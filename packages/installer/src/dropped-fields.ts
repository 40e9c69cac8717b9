// SPDX-License-Identifier: Apache-2.0

// Finds fields that a new CRD would prune from stored objects. The API server prunes a field as soon as the schema does
// not describe it, and the next write of the object then loses its value.
import type { CustomResourceDefinition } from '@grove/api'

/** The part of an OpenAPI schema that decides about pruning. */
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly additionalProperties?: Schema | boolean
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-embedded-resource'?: boolean
}

/** Paths that the installed CRD keeps and the wanted one prunes, by version: `v1alpha1: spec.template.a`. */
export function droppedFields(
  installed: Pick<CustomResourceDefinition, 'spec'>,
  wanted: Pick<CustomResourceDefinition, 'spec'>,
): string[] {
  return installed.spec.versions.flatMap(({ name, schema }) => {
    const next = wanted.spec.versions.find(version => version.name === name)
    if (!next) return [`${name}: the whole version`]
    const dropped = compare(schema?.openAPIV3Schema as Schema | undefined, rootOf(next.schema), '')
    return dropped.map(path => `${name}: ${path}`)
  })
}

function rootOf(schema: { readonly openAPIV3Schema?: unknown } | undefined): Schema {
  return (schema?.openAPIV3Schema ?? {}) as Schema
}

function compare(installed: Schema | undefined, wanted: Schema, path: string): string[] {
  if (!installed || wanted['x-kubernetes-preserve-unknown-fields']) return []
  const anyMember = typeof wanted.additionalProperties === 'object' ? wanted.additionalProperties : undefined
  const members = Object.entries(installed.properties ?? {}).flatMap(([name, schema]) => {
    const at = path ? `${path}.${name}` : name
    const next = wanted.properties?.[name] ?? anyMember
    if (next) return compare(schema, next, at)
    return wanted.additionalProperties === true ? [] : [at]
  })
  return [
    ...members,
    ...(installed.items ? compare(installed.items, wanted.items ?? {}, `${path}[]`) : []),
    ...(typeof installed.additionalProperties === 'object'
      ? compare(installed.additionalProperties, anyMember ?? {}, `${path}.*`)
      : []),
  ]
}
