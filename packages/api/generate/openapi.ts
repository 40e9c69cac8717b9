// SPDX-License-Identifier: Apache-2.0

// The Kubernetes OpenAPI as this repository keeps it: only the definitions that are used, without texts.
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

/** By short name, for example `core.v1.PodSpec` or `meta.v1.ObjectMeta`; `$ref`s are such names. */
export type Definitions = Readonly<Record<string, OpenApiSchema>>

/**
 * Types and CRDs follow `newest`. Where an embedded pod specification differs between the two, `embedded` wins:
 * it is the version whose pods the published PodCliqueSet API accepts.
 */
export const kubernetesVersions = { newest: 'v1.37.1', embedded: 'v1.35.4' } as const

export type KubernetesRole = keyof typeof kubernetesVersions

/** What the CRDs embed. */
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

/** The definitions that `roots` need, themselves included, sorted by name. */
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
