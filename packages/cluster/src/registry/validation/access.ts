// SPDX-License-Identifier: Apache-2.0

import { dns1123Subdomain, type FieldError, fieldError } from '@grove/apimachinery'
import type { RbacPolicyRule, RbacRoleBinding, RbacSubject } from '../../schema/types.generated.ts'
import { named, obeys, oneOf, pathSegmentName } from './values.ts'

const group = 'rbac.authorization.k8s.io'

export function validateRules(
  rules: readonly RbacPolicyRule[] | null | undefined,
  { isNamespaced }: { readonly isNamespaced: boolean },
): FieldError[] {
  return (rules ?? []).flatMap((rule, index) => {
    const at = `rules[${index}]`
    return [
      ...(rule.nonResourceURLs?.length
        ? validateUrls(rule, rule.nonResourceURLs, isNamespaced, `${at}.nonResourceURLs`)
        : validateResources(rule, at)),
      ...(rule.verbs?.length ? [] : [fieldError.required(`${at}.verbs`)]),
    ]
  })
}

function validateResources({ apiGroups, resources }: RbacPolicyRule, field: string): FieldError[] {
  const missing = (name: string, one: string) =>
    fieldError.required(`${field}.${name}`, `resource rules must supply at least one ${one}`)
  return [
    ...(apiGroups?.length ? [] : [missing('apiGroups', 'api group')]),
    ...(resources?.length ? [] : [missing('resources', 'resource')]),
  ]
}

function validateUrls(
  { apiGroups, resources, resourceNames }: RbacPolicyRule,
  urls: readonly string[],
  isNamespaced: boolean,
  field: string,
): FieldError[] {
  const errors: FieldError[] = []
  if (isNamespaced)
    errors.push(fieldError.invalid(field, urls, 'namespaced rules cannot apply to non-resource URLs'))
  if (apiGroups?.length || resources?.length || resourceNames?.length)
    errors.push(
      fieldError.invalid(field, urls, 'rules cannot apply to both regular resources and non-resource URLs'),
    )
  return errors
}

export function validateBinding(
  { roleRef, subjects }: RbacRoleBinding,
  roleKinds: readonly string[],
): FieldError[] {
  return [
    ...oneOf(roleRef?.apiGroup ?? '', [group], 'roleRef.apiGroup'),
    ...oneOf(roleRef?.kind ?? '', roleKinds, 'roleRef.kind'),
    ...named(roleRef?.name, pathSegmentName, 'roleRef.name'),
    ...(subjects ?? []).flatMap((subject, index) => validateSubject(subject, `subjects[${index}]`)),
  ]
}

const subjectKinds = ['ServiceAccount', 'User', 'Group']

function validateSubject({ kind = '', name = '', apiGroup = '' }: RbacSubject, field: string): FieldError[] {
  const errors: FieldError[] = []
  if (name === '') errors.push(fieldError.required(`${field}.name`))
  if (!subjectKinds.includes(kind)) errors.push(fieldError.unsupported(`${field}.kind`, kind, subjectKinds))
  else if (kind === 'ServiceAccount') {
    if (name !== '') errors.push(...obeys(name, dns1123Subdomain, `${field}.name`))
    errors.push(...oneOf(apiGroup, [''], `${field}.apiGroup`))
  } else errors.push(...oneOf(apiGroup, [group], `${field}.apiGroup`))
  return errors
}
