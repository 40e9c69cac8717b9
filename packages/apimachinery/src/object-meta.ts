// SPDX-License-Identifier: Apache-2.0
import { type FieldError, fieldError } from './field-error.ts'
import { isJsonObject, type JsonObject } from './json-value.ts'
import {
  dns1123Label,
  dns1123Subdomain,
  type NameRule,
  qualifiedName,
  validateAnnotations,
  validateLabels,
} from './names.ts'

export interface ObjectMetaRules {
  readonly namespaced: boolean
  /** The name rule of the kind; default: DNS subdomain. */
  readonly name?: NameRule
}

/**
 * Validates the metadata of a new object like the API server. Members of the wrong type are not validated
 * here, because decoding rejects them.
 */
export function validateObjectMeta(
  metadata: unknown,
  rules: ObjectMetaRules,
  field = 'metadata',
): FieldError[] {
  const meta = isJsonObject(metadata) ? metadata : {}
  return [
    ...validateName(meta, rules.name ?? dns1123Subdomain, field),
    ...validateNamespace(textOf(meta.namespace), rules.namespaced, `${field}.namespace`),
    ...validateGeneration(meta, field),
    ...validateShared(meta, field),
    ...validateFinalizers(stringsOf(meta.finalizers), `${field}.finalizers`),
  ]
}

/**
 * Validates an update: the identity stays, and an object that is being deleted gets no new finalizers. The
 * caller checks the resourceVersion.
 */
export function validateObjectMetaUpdate(
  metadata: unknown,
  oldMetadata: unknown,
  field = 'metadata',
): FieldError[] {
  const meta = isJsonObject(metadata) ? metadata : {}
  const old = isJsonObject(oldMetadata) ? oldMetadata : {}
  const errors: FieldError[] = []
  if (old.deletionTimestamp != null) {
    const known = new Set(stringsOf(old.finalizers))
    const added = [...new Set(stringsOf(meta.finalizers))].filter(name => !known.has(name)).sort()
    if (added.length > 0) {
      const list = `[]string{${added.map(name => JSON.stringify(name)).join(', ')}}`
      errors.push(
        fieldError.forbidden(
          `${field}.finalizers`,
          `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`,
        ),
      )
    }
  }
  errors.push(...validateGeneration(meta, field))
  if (numberOf(meta.generation) < numberOf(old.generation)) {
    errors.push(fieldError.invalid(`${field}.generation`, meta.generation ?? 0, 'must not be decremented'))
  }
  for (const name of ['name', 'namespace', 'uid']) {
    const value = textOf(meta[name])
    if (value !== textOf(old[name])) errors.push(fieldError.immutable(`${field}.${name}`, value))
  }
  for (const name of ['creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds']) {
    if ((meta[name] ?? null) !== (old[name] ?? null)) {
      errors.push(fieldError.immutable(`${field}.${name}`, meta[name]))
    }
  }
  return [...errors, ...validateShared(meta, field)]
}

function validateName(meta: JsonObject, rule: NameRule, field: string): FieldError[] {
  const name = textOf(meta.name)
  const generateName = textOf(meta.generateName)
  const errors: FieldError[] = []
  if (generateName !== '') {
    // A suffix is appended, so the prefix may end with a dash.
    const probe = /^.+-$/su.test(generateName) ? `${generateName.slice(0, -1)}a` : generateName
    for (const problem of rule(probe)) {
      errors.push(fieldError.invalid(`${field}.generateName`, generateName, problem))
    }
  }
  if (name === '') errors.push(fieldError.required(`${field}.name`, 'name or generateName is required'))
  else for (const problem of rule(name)) errors.push(fieldError.invalid(`${field}.name`, name, problem))
  return errors
}

function validateNamespace(namespace: string, namespaced: boolean, field: string): FieldError[] {
  if (!namespaced) {
    return namespace === '' ? [] : [fieldError.forbidden(field, 'not allowed on this type')]
  }
  if (namespace === '') return [fieldError.required(field)]
  return dns1123Label(namespace).map(problem => fieldError.invalid(field, namespace, problem))
}

function validateGeneration(meta: JsonObject, field: string): FieldError[] {
  const generation = numberOf(meta.generation)
  if (generation >= 0) return []
  return [fieldError.invalid(`${field}.generation`, generation, 'must be greater than or equal to 0')]
}

function validateShared(meta: JsonObject, field: string): FieldError[] {
  return [
    ...validateLabels(textsOf(meta.labels), `${field}.labels`),
    ...validateAnnotations(textsOf(meta.annotations), `${field}.annotations`),
    ...validateOwnerReferences(objectsOf(meta.ownerReferences), `${field}.ownerReferences`),
    ...validateManagedFields(objectsOf(meta.managedFields), `${field}.managedFields`),
  ]
}

function validateOwnerReferences(references: readonly JsonObject[], field: string): FieldError[] {
  const errors: FieldError[] = []
  let controller: string | undefined
  // Every further controller is reported with all references, so they are copied only once.
  let all: readonly JsonObject[] | undefined
  for (const [index, reference] of references.entries()) {
    const at = `${field}[${index}]`
    const apiVersion = textOf(reference.apiVersion)
    if (apiVersion !== '' && !/^[^/]*\/?[^/]+$/.test(apiVersion)) {
      errors.push(
        fieldError.invalid(`${at}.apiVersion`, apiVersion, 'must be <group>/<version> or <version>'),
      )
    }
    for (const name of ['apiVersion', 'kind', 'name', 'uid']) {
      if (textOf(reference[name]) === '')
        errors.push(fieldError.required(`${at}.${name}`, 'must not be empty'))
    }
    if (apiVersion === 'v1' && reference.kind === 'Event') {
      errors.push(
        fieldError.invalid(
          at,
          shownReference(reference),
          '/v1, Kind=Event is disallowed from being an owner',
        ),
      )
    }
    if (reference.controller === true) {
      const name = `${textOf(reference.kind)}/${textOf(reference.name)}`
      if (controller === undefined) controller = name
      else {
        all ??= references.map(shownReference)
        errors.push(
          fieldError.invalid(
            field,
            all,
            `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`,
          ),
        )
      }
    }
  }
  return errors
}

/** Orders the members like the Kubernetes type, as errors show them. */
function shownReference(reference: JsonObject): JsonObject {
  const shown: JsonObject = {}
  for (const name of ['apiVersion', 'kind', 'name', 'uid']) shown[name] = textOf(reference[name])
  for (const name of ['controller', 'blockOwnerDeletion']) {
    if (typeof reference[name] === 'boolean') shown[name] = reference[name]
  }
  return shown
}

function validateFinalizers(finalizers: readonly string[], field: string): FieldError[] {
  const errors = finalizers.flatMap(name =>
    qualifiedName(name).map(problem => fieldError.invalid(field, name, problem)),
  )
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    errors.push(
      fieldError.invalid(field, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set'),
    )
  }
  return errors
}

const maxManagerBytes = 128
const maxSubresourceBytes = 256

function validateManagedFields(entries: readonly JsonObject[], field: string): FieldError[] {
  const errors: FieldError[] = []
  for (const [index, entry] of entries.entries()) {
    const at = `${field}[${index}]`
    const operation = textOf(entry.operation)
    if (operation === '') errors.push(fieldError.required(`${at}.operation`, 'must not be empty'))
    else if (operation !== 'Apply' && operation !== 'Update') {
      errors.push(fieldError.unsupported(`${at}.operation`, operation, ['Apply', 'Update']))
    }
    const fieldsType = textOf(entry.fieldsType)
    if (fieldsType !== '' && fieldsType !== 'FieldsV1') {
      errors.push(fieldError.invalid(`${at}.fieldsType`, fieldsType, 'must be `FieldsV1`'))
    }
    if (Buffer.byteLength(textOf(entry.manager)) > maxManagerBytes) {
      errors.push(fieldError.tooLong(`${at}.manager`, maxManagerBytes))
    }
    if (Buffer.byteLength(textOf(entry.subresource)) > maxSubresourceBytes) {
      errors.push(fieldError.tooLong(`${at}.subresource`, maxSubresourceBytes))
    }
  }
  return errors
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0
}

function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter(item => typeof item === 'string') : []
}

function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

function textsOf(value: unknown): Record<string, string> {
  if (!isJsonObject(value)) return {}
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}
