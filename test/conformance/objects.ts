// SPDX-License-Identifier: Apache-2.0

// Objects of the cases, with as few fields as the API accepts.
import type { Fixture } from './suite.ts'

export function configMap(
  name: string,
  data: Record<string, string> = { key: 'value' },
  metadata: object = {},
): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, data }
}

export function pod(name: string, spec: object = {}, metadata: object = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...metadata },
    spec: { containers: [{ name: 'main', image: 'registry.example/app:1' }], ...spec },
  }
}

export function deployment(name: string, spec: object = {}): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      replicas: 0,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'main', image: 'registry.example/app:1' }] },
      },
      ...spec,
    },
  }
}

export function service(name: string, spec: object = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { selector: { app: name }, ports: [{ port: 80 }], ...spec },
  }
}

/** The schema of the custom resource that most cases use. */
const widgetSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer', minimum: 1 },
        replicas: { type: 'integer' },
        color: { type: 'string', default: 'red', enum: ['red', 'blue'] },
        parts: {
          type: 'array',
          items: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string' }, count: { type: 'integer', default: 1 } },
          },
        },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
    status: {
      type: 'object',
      properties: { replicas: { type: 'integer' }, phase: { type: 'string' }, selector: { type: 'string' } },
    },
  },
}

/** A definition of `Widget` in its own group. `version` and `spec` override parts of it. */
export function widgetDefinition({ id }: Fixture, version: object = {}, spec: object = {}): object {
  const group = `${id}.example.com`
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: {
            status: {},
            scale: {
              specReplicasPath: '.spec.replicas',
              statusReplicasPath: '.status.replicas',
              labelSelectorPath: '.status.selector',
            },
          },
          schema: { openAPIV3Schema: widgetSchema },
          ...version,
        },
      ],
      ...spec,
    },
  }
}

export const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

/** Creates the definition, waits until its kind is served, and returns the path of its objects. */
export async function defineWidgets(
  fixture: Fixture,
  version: object = {},
  spec: object = {},
): Promise<string> {
  const { http, id, namespace } = fixture
  const created = await http.post(definitionsPath, widgetDefinition(fixture, version, spec))
  if (created.status !== 201) throw new Error(created.raw)
  const name = created.text('metadata.name')
  await fixture.eventually(
    () => http.get(`${definitionsPath}/${name}`),
    response =>
      JSON.stringify(response.at('status.conditions') ?? '').includes('"Established","status":"True"'),
  )
  const path = `/apis/${id}.example.com/v1/namespaces/${namespace}/widgets`
  await fixture.eventually(
    () => http.get(path),
    response => response.status === 200,
  )
  return path
}

export function widget(
  { id }: Fixture,
  name: string,
  spec: object = { size: 2 },
  extra: object = {},
): object {
  return { apiVersion: `${id}.example.com/v1`, kind: 'Widget', metadata: { name }, spec, ...extra }
}
