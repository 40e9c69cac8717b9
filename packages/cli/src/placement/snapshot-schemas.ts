// SPDX-License-Identifier: Apache-2.0

// Types of the fields that placement reads. A manifest can have any types; an API server rejects other ones.
import { embeddedSchema, type StructuralSchema, schemaOf } from '@grove/api'

type Properties = Readonly<Record<string, StructuralSchema>>

const text: StructuralSchema = { type: 'string' }
const integer: StructuralSchema = { type: 'integer' }
const boolean: StructuralSchema = { type: 'boolean' }
const object = (properties: Properties = {}): StructuralSchema => ({ type: 'object', properties })
const list = (items: StructuralSchema): StructuralSchema => ({ type: 'array', items })
const mapOf = (values: StructuralSchema): StructuralSchema => ({
  type: 'object',
  additionalProperties: values,
})

const metadata = object({
  name: text,
  namespace: text,
  uid: text,
  creationTimestamp: text,
  deletionTimestamp: text,
  labels: mapOf(text),
  annotations: mapOf(text),
  ownerReferences: list(object()),
})
const withMetadata = (properties: Properties) => object({ metadata, ...properties })
const nodeSelector = embeddedSchema('core.v1.NodeSelector')
const named = object({ name: text })

/** By kind. Fields that a schema does not list may have any type. */
export const snapshotSchemas: Readonly<Record<string, StructuralSchema>> = {
  Node: withMetadata({
    spec: object({
      unschedulable: boolean,
      taints: list(object({ key: text, value: text, effect: text })),
    }),
    status: object({ allocatable: mapOf(embeddedSchema('meta.v1.Quantity')) }),
  }),
  Pod: withMetadata({
    spec: embeddedSchema('core.v1.PodSpec'),
    status: object({ phase: text, conditions: list(object()) }),
  }),
  PodGang: withMetadata(schemaOf('PodGang').properties ?? {}),
  ClusterTopologyBinding: withMetadata(schemaOf('ClusterTopologyBinding').properties ?? {}),
  PriorityClass: withMetadata({ value: integer, globalDefault: boolean, preemptionPolicy: text }),
  Namespace: withMetadata({}),
  PersistentVolume: withMetadata({ spec: object({ nodeAffinity: object({ required: nodeSelector }) }) }),
  PersistentVolumeClaim: withMetadata({ spec: embeddedSchema('core.v1.PersistentVolumeClaimSpec') }),
  StorageClass: withMetadata({
    volumeBindingMode: text,
    allowedTopologies: list(
      object({ matchLabelExpressions: list(object({ key: text, values: list(text) })) }),
    ),
  }),
  ResourceSlice: withMetadata({
    spec: object({
      driver: text,
      nodeName: text,
      pool: object({ name: text, generation: integer, resourceSliceCount: integer }),
      devices: list(
        object({
          name: text,
          attributes: mapOf(object()),
          capacity: mapOf(object()),
          taints: list(object()),
        }),
      ),
    }),
  }),
  ResourceClaim: withMetadata({
    spec: embeddedSchema('resource.v1.ResourceClaimSpec'),
    status: object({
      allocation: object({ nodeSelector, devices: object({ results: list(object()) }) }),
      reservedFor: list(named),
    }),
  }),
  ResourceClaimTemplate: withMetadata({ spec: embeddedSchema('resource.v1.ResourceClaimTemplateSpec') }),
  DeviceClass: withMetadata({
    spec: object({ selectors: list(embeddedSchema('resource.v1.DeviceSelector')) }),
  }),
}

/** The path of the first field whose value has another type. */
export function wrongType(schema: StructuralSchema, value: unknown, path = ''): string | undefined {
  if (!hasType(schema, value)) return path
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) {
      const found = schema.items && wrongType(schema.items, item, `${path}[${at}]`)
      if (found !== undefined) return found
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, item] of Object.entries(value)) {
      const known =
        schema.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
      const part = known ?? schema.additionalProperties
      const found = part && wrongType(part, item, path === '' ? name : `${path}.${name}`)
      if (found !== undefined) return found
    }
  }
  return undefined
}

function hasType({ type, ...schema }: StructuralSchema, value: unknown): boolean {
  if (schema['x-kubernetes-int-or-string']) return typeof value === 'string' || typeof value === 'number'
  switch (type) {
    case undefined:
      return true
    case 'array':
      return Array.isArray(value)
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}

/** The value without fields that are null, which count as absent. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== null)
      .map(([name, item]) => [name, withoutNulls(item)]),
  )
}
