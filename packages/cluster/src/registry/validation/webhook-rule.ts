// SPDX-License-Identifier: Apache-2.0

import { type FieldError, fieldError } from '@grove/apimachinery'
import type { AdmissionregistrationRuleWithOperations } from '../../schema/types.generated.ts'

const operations = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']
const scopes = ['*', 'Cluster', 'Namespaced']

export function validateWebhookRule(
  rule: AdmissionregistrationRuleWithOperations,
  field: string,
): FieldError[] {
  return [
    ...validateResources(rule.resources ?? [], `${field}.resources`),
    ...validateNames(rule.apiGroups ?? [], `${field}.apiGroups`, 'API groups', true),
    ...validateNames(rule.apiVersions ?? [], `${field}.apiVersions`, 'API versions', false),
    ...(rule.scope === undefined || scopes.includes(rule.scope)
      ? []
      : [fieldError.unsupported(`${field}.scope`, rule.scope, scopes)]),
    ...validateNames(rule.operations ?? [], `${field}.operations`, 'operations', true),
    ...(rule.operations ?? []).flatMap((operation, index) =>
      operations.includes(operation)
        ? []
        : [fieldError.unsupported(`${field}.operations[${index}]`, operation, operations)],
    ),
  ]
}

/** Only the core group may have an empty name. */
function validateNames(
  names: readonly string[],
  field: string,
  what: string,
  mayBeEmpty: boolean,
): FieldError[] {
  if (names.length === 0) return [fieldError.required(field)]
  const errors = names.flatMap((name, index) =>
    name === '' && !mayBeEmpty ? [fieldError.required(`${field}[${index}]`)] : [],
  )
  if (names.length > 1 && names.includes('*'))
    errors.push(fieldError.invalid(field, names, `if '*' is present, must not specify other ${what}`))
  return errors
}

/** Validates `pods`, `pods/status` and patterns. A pattern must not be covered by another one. */
function validateResources(resources: readonly string[], field: string): FieldError[] {
  if (resources.length === 0) return [fieldError.required(field)]
  const errors: FieldError[] = []
  for (const [index, pattern] of resources.entries()) {
    const at = `${field}[${index}]`
    const [resource = '', sub] = pattern.split('/', 2)
    if (pattern === '') errors.push(fieldError.required(at))
    if (sub === undefined) continue
    const covering = [`*/${sub}`, `${resource}/*`].find(
      other => other !== pattern && other !== '*/*' && resources.includes(other),
    )
    if (covering)
      errors.push(fieldError.invalid(at, pattern, `if '${covering}' is present, must not specify ${pattern}`))
  }
  if (resources.length > 1 && resources.includes('*/*'))
    errors.push(fieldError.invalid(field, resources, "if '*/*' is present, must not specify other resources"))
  if (resources.includes('*') && resources.some(each => each !== '*' && !each.includes('/')))
    errors.push(
      fieldError.invalid(
        field,
        resources,
        "if '*' is present, must not specify other resources without subresources",
      ),
    )
  return errors
}
