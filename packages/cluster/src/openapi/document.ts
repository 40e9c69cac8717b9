// SPDX-License-Identifier: Apache-2.0

import type { Resource } from '../registry/resource.ts'
import { structType } from '../schema/type-table.ts'
import { apiVersionOf } from '../server/presentation.ts'
import { collectSchemas, type Dialect, type Schema, schemaName, version2, version3 } from './schemas.ts'

const info = { title: 'Kubernetes', version: 'v1.37.1' }

/**
 * The OpenAPI 3 document of one group and version. `kubectl explain` and the validation of `kubectl apply`
 * read it.
 */
export function document3(resources: readonly Resource[]): object {
  return {
    openapi: '3.0.0',
    info,
    paths: pathsOf(resources, true),
    components: { schemas: Object.fromEntries(schemasOf(resources, version3)) },
  }
}

/** The Swagger 2 document of all kinds. */
export function document2(resources: readonly Resource[]) {
  return {
    swagger: '2.0',
    info,
    paths: pathsOf(resources, false),
    definitions: Object.fromEntries(schemasOf(resources, version2)),
  }
}

function schemasOf(resources: readonly Resource[], dialect: Dialect): Map<string, Schema> {
  const objectMeta = structType('meta/v1.ObjectMeta')
  const schemas = collectSchemas([...resources.flatMap(({ struct }) => struct ?? []), objectMeta], dialect)
  for (const resource of resources) {
    const { group, version, kind } = resource
    const name = nameOf(resource)
    const schema = resource.struct ? schemas.get(name)! : customSchema(resource, dialect)
    schemas.set(name, { ...schema, 'x-kubernetes-group-version-kind': [{ group, version, kind }] })
  }
  return schemas
}

function nameOf(resource: Resource): string {
  if (resource.struct) return schemaName(resource.struct.name)
  return [...resource.group.split('.').reverse(), resource.version, resource.kind].join('.')
}

/** The schema of the definition, plus apiVersion, kind and metadata. */
function customSchema(resource: Resource, dialect: Dialect): Schema {
  const schema = (resource.schema ?? { type: 'object' }) as Schema & { properties?: Record<string, Schema> }
  const metadata = dialect.reference(dialect.refPrefix + schemaName('meta/v1.ObjectMeta'))
  const typeMeta = { type: 'string' }
  return { ...schema, properties: { apiVersion: typeMeta, kind: typeMeta, ...schema.properties, metadata } }
}

function pathsOf(resources: readonly Resource[], parametersHaveSchema: boolean): Record<string, object> {
  const text = parametersHaveSchema
    ? { schema: { type: 'string', uniqueItems: true } }
    : { type: 'string', uniqueItems: true }
  const query = (name: string) => ({ name, in: 'query', ...text })
  const paths: Record<string, object> = {}
  for (const resource of resources) {
    const { group, version, kind, plural, namespaced, verbs } = resource
    const root = `/${group ? 'apis' : 'api'}/${apiVersionOf(resource)}`
    const collection = namespaced ? `${root}/namespaces/{namespace}/${plural}` : `${root}/${plural}`
    const operation = (action: string, parameters: readonly object[] = []) => ({
      operationId: `${action}${group || 'Core'}${version}${kind}`,
      'x-kubernetes-action': action,
      'x-kubernetes-group-version-kind': { group, version, kind },
      ...(parameters.length > 0 && { parameters }),
      responses: { 200: { description: 'OK' } },
    })
    const writes = ['dryRun', 'fieldManager', 'fieldValidation'].map(query)
    const item = { name: 'name', in: 'path', required: true, ...text }
    const shared = namespaced ? [{ name: 'namespace', in: 'path', required: true, ...text }] : []
    paths[collection] = {
      ...(verbs.includes('list') && { get: operation('list') }),
      ...(verbs.includes('create') && { post: operation('post', writes) }),
      ...(verbs.includes('deletecollection') && { delete: operation('deletecollection') }),
      ...(shared.length > 0 && { parameters: shared }),
    }
    if (!verbs.includes('get')) continue
    paths[`${collection}/{name}`] = {
      get: operation('get'),
      ...(verbs.includes('update') && { put: operation('put', writes) }),
      ...(verbs.includes('patch') && { patch: operation('patch', [...writes, query('force')]) }),
      ...(verbs.includes('delete') && { delete: operation('delete', [query('dryRun')]) }),
      parameters: [item, ...shared],
    }
  }
  return paths
}
