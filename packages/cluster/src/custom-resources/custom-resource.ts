// SPDX-License-Identifier: Apache-2.0

import {
  applyDefaults,
  type CompiledSchema,
  compileSchema,
  type FieldError,
  isJsonObject,
  type JSONSchemaProps,
  type JsonObject,
  prune,
  validateCustomResource,
} from '@grove/apimachinery'
import type { KubeObject } from '../object.ts'
import { allVerbs, objectVerbs } from '../registry/built-in.ts'
import type { Codec, Conversion, Resource, ScalePaths, SubresourceInfo } from '../registry/resource.ts'
import { decodeStruct } from '../schema/decode.ts'
import { structType } from '../schema/type-table.ts'
import type {
  ApiextensionsCustomResourceDefinition,
  ApiextensionsCustomResourceDefinitionVersion,
  ApiextensionsCustomResourceSubresourceScale,
  ObjectMeta,
} from '../schema/types.generated.ts'
import { customColumns } from './columns.ts'
import { compileJsonPath } from './json-path.ts'

/** The resources of a definition: one per served version, all with the same storage. */
export function customResources(definition: ApiextensionsCustomResourceDefinition): Resource[] {
  const versions = definition.spec?.versions ?? []
  return versions.filter(({ served }) => served).map(version => customResource(definition, version))
}

export function customStorage(definition: ApiextensionsCustomResourceDefinition): string {
  return `${definition.spec?.names?.plural}.${definition.spec?.group}`
}

function customResource(
  definition: ApiextensionsCustomResourceDefinition,
  version: ApiextensionsCustomResourceDefinitionVersion,
): Resource {
  const { group = '', names = {}, scope, versions = [] } = definition.spec ?? {}
  const kind = names.kind ?? ''
  const apiVersion = `${group}/${version.name}`
  const storageVersion = versions.find(({ storage }) => storage)?.name ?? version.name
  const schema = compileSchema((version.schema?.openAPIV3Schema ?? { type: 'object' }) as JSONSchemaProps)
  const hasStatus = version.subresources?.status !== undefined
  const declaredScale = version.subresources?.scale
  const type = {
    apiVersion,
    kind,
    namespaced: scope === 'Namespaced',
    schema,
    ...(declaredScale && { scale: declaredScale as Required<ApiextensionsCustomResourceSubresourceScale> }),
  }
  const validate = (object: KubeObject, old?: KubeObject) => validateCustomResource(type, object, old)
  return {
    group,
    version: version.name!,
    kind,
    plural: names.plural ?? '',
    singular: names.singular ?? kind.toLowerCase(),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: type.namespaced,
    verbs: allVerbs,
    subresources: subresourcesOf(kind, hasStatus, declaredScale !== undefined),
    storage: customStorage(definition),
    conversion:
      version.name === storageVersion ? undefined : relabel(apiVersion, `${group}/${storageVersion}`),
    codec: customCodec(schema),
    strategy: {
      hasStatus,
      hasGeneration: true,
      requireResourceVersion: true,
      validatesMetadata: true,
      validate: object => validate(object),
      validateUpdate: (object, old) => validate(object, old),
      validateStatusUpdate: (object, old) => validate(object, old).map(namedWithinStatus),
    },
    columns: customColumns(version.additionalPrinterColumns),
    selectableFields: selectableFields(version),
    scale: declaredScale && scalePaths(declaredScale),
    schema: version.schema?.openAPIV3Schema as JsonObject | undefined,
  }
}

/**
 * The real API server validates a status write with the schema of the status, so messages have paths relative
 * to it.
 */
function namedWithinStatus(error: FieldError): FieldError {
  return { ...error, detail: error.detail.replace(/^status\.?(\S*) in body /, '$1 in body ') }
}

function subresourcesOf(kind: string, hasStatus: boolean, hasScale: boolean): Map<string, SubresourceInfo> {
  const subresources = new Map<string, SubresourceInfo>()
  if (hasStatus) subresources.set('status', { kind, verbs: objectVerbs })
  if (hasScale)
    subresources.set('scale', { kind: 'Scale', group: 'autoscaling', version: 'v1', verbs: objectVerbs })
  return subresources
}

/** Conversion strategy None: only apiVersion changes. */
function relabel(served: string, stored: string): Conversion {
  return {
    toStorage: object => ({ ...object, apiVersion: stored }),
    fromStorage: object => ({ ...object, apiVersion: served }),
  }
}

const objectMeta = structType('meta/v1.ObjectMeta')

function customCodec(schema: CompiledSchema): Codec {
  return {
    decode(value: JsonObject) {
      const metadata = decodeStruct(objectMeta, value.metadata ?? {})
      const pruned = prune(schema, value)
      const object = { ...(pruned.value as JsonObject), metadata: metadata.object as ObjectMeta }
      const unknownFields = [
        ...metadata.unknownFields.map(name => `metadata.${name}`),
        ...pruned.dropped,
      ].sort()
      return { object, unknownFields }
    },
    applyDefaults(draft) {
      const filled = applyDefaults(schema, draft) as KubeObject
      for (const key of Object.keys(draft)) if (!(key in filled)) delete draft[key]
      Object.assign(draft, filled)
    },
  }
}

function scalePaths(scale: ApiextensionsCustomResourceSubresourceScale): ScalePaths {
  const split = (path: string) => path.replace(/^\./, '').split('.')
  return {
    specReplicas: split(scale.specReplicasPath ?? ''),
    statusReplicas: split(scale.statusReplicasPath ?? ''),
    ...(scale.labelSelectorPath && { selector: split(scale.labelSelectorPath) }),
  }
}

function selectableFields({
  selectableFields: declared,
}: ApiextensionsCustomResourceDefinitionVersion): Resource['selectableFields'] {
  return Object.fromEntries(
    (declared ?? []).map(({ jsonPath = '' }) => {
      const path = compileJsonPath(jsonPath)
      return [
        jsonPath.replace(/^\./, ''),
        (object: KubeObject) => {
          const value = path?.(object)[0]
          return value === undefined || isJsonObject(value) ? '' : String(value)
        },
      ]
    }),
  )
}
