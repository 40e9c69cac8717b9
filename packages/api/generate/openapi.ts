// SPDX-License-Identifier: Apache-2.0

// The extract of the Kubernetes OpenAPI in this repository: only the definitions in use, without descriptions.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface OpenApiSchema {
  readonly $ref?: string
  readonly type?: string
  readonly format?: string
  readonly properties?: Readonly<Record<string, OpenApiSchema>>
  readonly required?: readonly string[]
  readonly items?: OpenApiSchema
  readonly additionalProperties?: OpenApiSchema
  readonly default?: unknown
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'map' | 'set'
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular'
  readonly 'x-kubernetes-patch-strategy'?: string
  readonly 'x-kubernetes-patch-merge-key'?: string
  readonly 'x-kubernetes-group-version-kind'?: readonly GroupVersionKind[]
}

export interface GroupVersionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** By short name, for example `core.v1.PodSpec` or `meta.v1.ObjectMeta`. `$ref` uses the same names. */
export type Definitions = Readonly<Record<string, OpenApiSchema>>

/**
 * Types and CRDs follow `newest`. Where an embedded pod spec differs between the two, `embedded` wins: the published
 * PodCliqueSet API accepts pods of that version.
 */
export const kubernetesVersions = { newest: 'v1.37.1', embedded: 'v1.35.4' } as const

export type KubernetesRole = keyof typeof kubernetesVersions

/** Kubernetes types that the CRDs embed. */
export const embeddedRoots = [
  'core.v1.PodSpec',
  'resource.v1.ResourceClaimTemplateSpec',
  'autoscaling.v2.MetricSpec',
] as const

const repository = join(import.meta.dirname, '../../..')

/** Relative to the root of the repository. */
export function definitionsPath(role: KubernetesRole): string {
  return `packages/api/generate/kubernetes-${role}.generated.json`
}

export function readDefinitions(role: KubernetesRole): Definitions {
  const file: unknown = JSON.parse(readFileSync(join(repository, definitionsPath(role)), 'utf8'))
  return (file as { definitions: Definitions }).definitions
}

/** Returns `roots` and every definition they reference, sorted by name. */
export function reachable(all: Definitions, roots: readonly string[]): Definitions {
  const found = new Map<string, OpenApiSchema>()
  const open = [...roots]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name)) continue
    const definition = all[name]
    if (!definition) throw new Error(`the OpenAPI has no definition ${name}`)
    found.set(name, definition)
    open.push(...references(definition))
  }
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)))
}

function references(schema: OpenApiSchema): string[] {
  if (schema.$ref) return [schema.$ref]
  const inside = [...Object.values(schema.properties ?? {}), schema.items, schema.additionalProperties]
  return inside.flatMap(part => (part ? references(part) : []))
}
