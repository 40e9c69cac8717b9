// SPDX-License-Identifier: Apache-2.0

// The JSON schema of the chart value `config`.
import { type ConfigurationKey, configurationKeys } from './configuration-keys.ts'
import { type JsonSchema, numberOf, object, optionalOf } from './json-schema.ts'

/** Keys that only the chart reads. */
const chartKeys: readonly { readonly path: string; readonly schema: JsonSchema }[] = [
  {
    path: 'server.healthProbes.enable',
    schema: { type: 'boolean', description: 'Render the probes of the Deployment.' },
  },
]

/** Sections that templates read. Helm removes a section that a user sets to null; the message then names it. */
const requiredSections: Readonly<Record<string, readonly string[]>> = {
  '': ['leaderElection', 'server'],
  server: ['webhooks', 'healthProbes', 'metrics'],
}

interface Tree {
  readonly [name: string]: Tree | JsonSchema
}

/**
 * Unknown keys are accepted: the operator logs them as warnings, and a values file of another release must not fail
 * because of them.
 */
export function configurationSchema(): JsonSchema {
  const root: Record<string, unknown> = {}
  for (const each of configurationKeys) insert(root, each.path, schemaOf(each))
  for (const { path, schema } of chartKeys) insert(root, path, schema)
  return sectionOf(root as Tree, '', 'Operator configuration; see docs/operations/configure.md.')
}

function insert(root: Record<string, unknown>, path: string, schema: JsonSchema): void {
  const names = path.split('.')
  const last = names.pop()!
  let node = root
  for (const name of names) {
    node[name] ??= {}
    node = node[name] as Record<string, unknown>
  }
  node[last] = schema
}

function sectionOf(tree: Tree, name: string, description?: string): JsonSchema {
  const properties = Object.entries(tree).map(([key, child]) => [
    key,
    isSchema(child) ? child : sectionOf(child, key),
  ])
  const required = requiredSections[name] ?? []
  return optionalOf(
    object(Object.fromEntries(properties), { isOpen: true, required, ...(description && { description }) }),
  )
}

function isSchema(node: Tree | JsonSchema): node is JsonSchema {
  return 'description' in node && typeof node.description === 'string'
}

function schemaOf({ type, meaning: description, values, minimum, maximum }: ConfigurationKey): JsonSchema {
  const limits = { ...(minimum !== undefined && { minimum }), ...(maximum !== undefined && { maximum }) }
  switch (type) {
    case 'boolean':
      return optionalOf({ type: 'boolean', description })
    case 'integer':
      return numberOf({ type: 'integer', description, ...limits })
    case 'number':
      return numberOf({ type: 'number', description, ...limits })
    case 'duration':
      return optionalOf({ type: 'string', description, pattern: '^-?([0-9.]+(ns|us|µs|ms|s|m|h))+$|^0$' })
    case 'texts':
      return optionalOf({ type: 'array', description, items: { type: 'string' } })
    case 'object':
      return optionalOf({ type: 'object', description })
    case 'profiles':
      return optionalOf({
        type: 'array',
        description,
        items: {
          type: 'object',
          required: ['name'],
          properties: { name: { enum: [...(values ?? [])] }, config: { type: ['object', 'null'] } },
        },
      })
    case 'text':
      return values
        ? { enum: [...new Set(['', ...values]), null], description }
        : optionalOf({ type: 'string', description })
  }
}
