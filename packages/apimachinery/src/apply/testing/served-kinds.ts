// SPDX-License-Identifier: Apache-2.0

import type { JsonObject } from '../../json-value.ts'
import type { JSONSchemaProps } from '../../structural-schema/json-schema-props.ts'
import {
  excluding,
  type FieldType,
  fieldTypeOfSchema,
  managedByMain,
  managedByStatus,
  type OpenApiSchemas,
  openApiFieldTypes,
} from '../index.ts'
import type { RealServer, ServedKind } from './real-server.ts'

const text: JSONSchemaProps = { type: 'string' }
const whole: JSONSchemaProps = { type: 'integer' }
const keepUnknown = { 'x-kubernetes-preserve-unknown-fields': true }

/** A schema with every merge behaviour. */
export const widgetSchema: JSONSchemaProps = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: whole,
        title: text,
        limit: { ...whole, nullable: true },
        defaulted: { ...text, default: 'given' },
        either: { 'x-kubernetes-int-or-string': true },
        nested: {
          type: 'object',
          properties: {
            a: text,
            b: whole,
            deep: { type: 'object', properties: { x: text, y: { type: 'boolean' } } },
          },
        },
        unit: { type: 'object', properties: { a: text, b: text }, 'x-kubernetes-map-type': 'atomic' },
        entries: { type: 'object', additionalProperties: text },
        groups: {
          type: 'object',
          additionalProperties: { type: 'object', properties: { a: text, b: text } },
        },
        tags: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
        numbers: { type: 'array', items: whole, 'x-kubernetes-list-type': 'set' },
        args: { type: 'array', items: text },
        env: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          items: {
            type: 'object',
            required: ['name'],
            properties: {
              name: text,
              value: text,
              tags: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
            },
          },
        },
        ports: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['port', 'protocol'],
          items: {
            type: 'object',
            required: ['port'],
            properties: { port: whole, protocol: { ...text, default: 'TCP' }, name: text },
          },
        },
        free: { type: 'object', ...keepUnknown },
        mixed: {
          type: 'object',
          ...keepUnknown,
          properties: { known: text, names: { type: 'array', items: text } },
        },
      },
    },
    status: { type: 'object', properties: { phase: text, seen: whole, ...conditions() } },
  },
}

function conditions(): Record<string, JSONSchemaProps> {
  const items: JSONSchemaProps = {
    type: 'object',
    required: ['type'],
    properties: { type: text, status: text },
  }
  return {
    conditions: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
      items,
    },
  }
}

export function widgetDefinition(plural: string, schema: JSONSchemaProps): JsonObject {
  const kind = kindOf(plural)
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.apply.test` },
    spec: {
      group: 'apply.test',
      scope: 'Namespaced',
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          subresources: { status: {} },
        },
      ],
    },
  }
}

export function customKind(plural: string, schema: JSONSchemaProps, namespace: string): ServedKind {
  const kind = kindOf(plural)
  const names = { apiVersion: 'apply.test/v1', kind, empty: { apiVersion: 'apply.test/v1', kind } }
  const type = fieldTypeOfSchema(schema)
  return {
    path: `/apis/apply.test/v1/namespaces/${namespace}/${plural}`,
    custom: true,
    main: { ...names, type, filter: managedByMain, subresource: '' },
    status: { ...names, type, filter: managedByStatus(kind, { custom: true }), subresource: 'status' },
  }
}

function kindOf(plural: string): string {
  return plural[0]!.toUpperCase() + plural.slice(1, -1)
}

const template = { metadata: {}, spec: { containers: null } }

/** Built-in kinds by plural, with the types of the server's OpenAPI document. */
export async function builtInKinds(server: RealServer, namespace: string) {
  const core = openApiFieldTypes(await schemasOf(server, '/openapi/v3/api/v1'))
  const apps = openApiFieldTypes(await schemasOf(server, '/openapi/v3/apis/apps/v1'))
  const served = (
    [apiVersion, kind, plural]: [string, string, string],
    type: FieldType,
    empty: JsonObject,
  ): ServedKind => {
    const names = { apiVersion, kind, type, empty: { apiVersion, kind, metadata: {}, ...empty } }
    const main = { ...names, filter: 'status' in empty ? managedByMain : excluding(), subresource: '' }
    const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
    return {
      path: `${root}/namespaces/${namespace}/${plural}`,
      custom: false,
      main,
      status: { ...main, filter: managedByStatus(kind, { custom: false }), subresource: 'status' },
    }
  }
  const services = served(['v1', 'Service', 'services'], core('io.k8s.api.core.v1.Service'), {
    spec: {},
    status: { loadBalancer: {} },
  })
  return {
    configmaps: served(['v1', 'ConfigMap', 'configmaps'], core('io.k8s.api.core.v1.ConfigMap'), {}),
    pods: served(['v1', 'Pod', 'pods'], core('io.k8s.api.core.v1.Pod'), { spec: template.spec, status: {} }),
    services: { ...services, filledLater: withoutAllocations },
    deployments: served(['apps/v1', 'Deployment', 'deployments'], apps('io.k8s.api.apps.v1.Deployment'), {
      spec: { selector: null, template, strategy: {} },
      status: {},
    }),
  }
}

function withoutAllocations(service: JsonObject): JsonObject {
  const {
    clusterIP: _,
    clusterIPs: __,
    ipFamilies: ___,
    ipFamilyPolicy: ____,
    ...spec
  } = service.spec as JsonObject
  return { ...service, spec }
}

async function schemasOf(server: RealServer, path: string): Promise<OpenApiSchemas> {
  const { body } = await server.send('GET', path)
  return (body.components as JsonObject).schemas as OpenApiSchemas
}
