// SPDX-License-Identifier: Apache-2.0

import { dns1035Label, dns1123Subdomain, equalJson, type FieldError, fieldError } from '@grove/apimachinery'
import type { ObjectOf } from '../object.ts'
import { kind } from '../registry/built-in.ts'
import { definitionColumns } from '../registry/tables/policy.ts'
import type { ApiextensionsCustomResourceDefinition } from '../schema/types.generated.ts'

/** Added when a definition is deleted, removed when its objects are gone. */
export const cleanupFinalizer = 'customresourcecleanup.apiextensions.k8s.io'

export const definitionKind = kind<ApiextensionsCustomResourceDefinition>({
  type: 'apiextensions/v1.CustomResourceDefinition',
  group: 'apiextensions.k8s.io',
  plural: 'customresourcedefinitions',
  singular: 'customresourcedefinition',
  namespaced: false,
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  columns: definitionColumns,
  defaults: applyDefinitionDefaults,
  strategy: {
    hasGeneration: true,
    requireResourceVersion: true,
    prepareForCreate(draft) {
      const { spec } = draft
      const stored = (spec?.versions ?? []).find(({ storage }) => storage)?.name
      // These lists are null until the definition is established, as in the real API server.
      const status = {
        conditions: null,
        acceptedNames: { plural: '', kind: '' },
        storedVersions: stored ? [stored] : null,
      }
      Object.assign(draft, { status })
    },
    prepareForDelete(draft) {
      if (!draft.metadata.finalizers?.includes(cleanupFinalizer))
        draft.metadata.finalizers = [...(draft.metadata.finalizers ?? []), cleanupFinalizer]
    },
    validate: object => validateDefinition(object),
    validateUpdate: (object, old) => {
      const errors = validateDefinition(object)
      for (const field of ['group', 'scope'] as const)
        if (!equalJson(object.spec?.[field], old.spec?.[field]))
          errors.push(fieldError.immutable(`spec.${field}`, object.spec?.[field]))
      return errors
    },
  },
})

function applyDefinitionDefaults({ spec }: ApiextensionsCustomResourceDefinition): void {
  if (!spec) return
  spec.names ??= {}
  const { names } = spec
  names.singular ||= (names.kind ?? '').toLowerCase()
  if (names.kind) names.listKind ||= `${names.kind}List`
  spec.conversion ??= { strategy: 'None' }
}

function validateDefinition(object: ObjectOf<ApiextensionsCustomResourceDefinition>): FieldError[] {
  const { metadata } = object
  const { spec = {} } = object
  const { group = '', names = {}, scope = '' } = spec
  // Go writes a list without items as null.
  const versions = spec.versions ?? []
  const errors: FieldError[] = []
  if (metadata.name !== `${names.plural}.${group}`)
    errors.push(
      fieldError.invalid('metadata.name', metadata.name, 'must be spec.names.plural+"."+spec.group'),
    )
  if (group === '') errors.push(fieldError.required('spec.group'))
  else
    errors.push(...dns1123Subdomain(group).map(problem => fieldError.invalid('spec.group', group, problem)))
  if (group !== '' && !group.includes('.'))
    errors.push(fieldError.invalid('spec.group', group, 'should be a domain with at least one dot'))
  if (scope === '') errors.push(fieldError.required('spec.scope'))
  else if (!['Cluster', 'Namespaced'].includes(scope))
    errors.push(fieldError.unsupported('spec.scope', scope, ['Cluster', 'Namespaced']))
  errors.push(...validateVersions(versions), ...validateNames(names))
  if (!object.status?.storedVersions?.length)
    errors.push(fieldError.invalid('status.storedVersions', null, 'must have at least one stored version'))
  return errors
}

type Spec = NonNullable<ApiextensionsCustomResourceDefinition['spec']>

function validateVersions(versions: NonNullable<Spec['versions']>): FieldError[] {
  const errors: FieldError[] = []
  const stored = versions.filter(({ storage }) => storage)
  const names = new Set<string>()
  for (const [index, version] of versions.entries()) {
    const at = `spec.versions[${index}]`
    const { name = '' } = version
    errors.push(...dns1035Label(name).map(problem => fieldError.invalid(`${at}.name`, name, problem)))
    if (names.has(name))
      errors.push(fieldError.invalid('spec.versions', versions, 'must contain unique version names'))
    names.add(name)
    if (!version.schema?.openAPIV3Schema) errors.push(fieldError.required(`${at}.schema.openAPIV3Schema`))
    else if (version.schema.openAPIV3Schema.type !== 'object')
      errors.push(
        version.schema.openAPIV3Schema.type
          ? fieldError.invalid(
              `${at}.schema.openAPIV3Schema.type`,
              version.schema.openAPIV3Schema.type,
              'must be object at the root',
            )
          : fieldError.required(`${at}.schema.openAPIV3Schema.type`, 'must not be empty at the root'),
      )
  }
  if (stored.length !== 1)
    errors.push(
      fieldError.invalid('spec.versions', null, 'must have exactly one version marked as storage version'),
    )
  return errors
}

function validateNames(names: NonNullable<Spec['names']>): FieldError[] {
  const errors: FieldError[] = []
  for (const field of ['plural', 'singular', 'kind', 'listKind'] as const) {
    const name = names[field] ?? ''
    if (name === '') errors.push(fieldError.required(`spec.names.${field}`))
    else
      errors.push(
        ...dns1035Label(name.toLowerCase()).map(problem =>
          fieldError.invalid(`spec.names.${field}`, name, problem),
        ),
      )
  }
  if (names.kind && names.kind === names.listKind)
    errors.push(
      fieldError.invalid('spec.names.listKind', names.listKind, 'kind and listKind may not be the same'),
    )
  return errors
}
