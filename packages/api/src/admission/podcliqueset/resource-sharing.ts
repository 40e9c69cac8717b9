// SPDX-License-Identifier: Apache-2.0

import { type FieldError, fieldError } from '@grove/apimachinery'
import type { PodCliqueSet, ResourceSharing, ScalingGroupResourceSharing } from '../../types/index.ts'
import { path } from './paths.ts'

const scopes: readonly string[] = ['AllReplicas', 'PerReplica']

/** Rules for one list of shared claims at any level. Lists are independent of each other. */
export function validateSharingList(
  sharing: readonly ResourceSharing[] | undefined,
  field: string,
  internalTemplates: ReadonlySet<string>,
): FieldError[] {
  const errors: FieldError[] = []
  const seen = new Set<string>()
  sharing?.forEach((entry, index) => {
    const at = `${field}[${index}]`
    if (entry.name === '') errors.push(fieldError.required(`${at}.name`, 'reference name is required'))
    else if (seen.has(entry.name)) errors.push(fieldError.duplicate(`${at}.name`, entry.name))
    else seen.add(entry.name)
    if (entry.namespace && internalTemplates.has(entry.name)) {
      errors.push(
        fieldError.invalid(
          `${at}.namespace`,
          entry.namespace,
          'namespace must be empty when name matches an internal resourceClaimTemplate',
        ),
      )
    }
    if (!scopes.includes(entry.scope)) {
      errors.push(fieldError.unsupported(`${at}.scope`, entry.scope, scopes))
    }
  })
  return errors
}

export function internalTemplateNames(set: PodCliqueSet): Set<string> {
  return new Set((set.spec.template.resourceClaimTemplates ?? []).map(template => template.name))
}

/** Claims shared by the whole set. Their filters name cliques and scaling groups. */
export function validateSetSharing(set: PodCliqueSet, internalTemplates: ReadonlySet<string>): FieldError[] {
  const field = `${path.template}.resourceSharing`
  const { resourceSharing, cliques, podCliqueScalingGroups } = set.spec.template
  const errors = validateSharingList(resourceSharing, field, internalTemplates)
  if (!resourceSharing?.some(entry => entry.filter)) return errors
  const cliqueNames = new Set(cliques.map(clique => clique.name))
  const groupNames = new Set((podCliqueScalingGroups ?? []).map(group => group.name))
  const filterErrors = resourceSharing.flatMap(({ filter }, index) => {
    if (!filter) return []
    const at = `${field}[${index}].filter`
    const { childCliqueNames = [], childScalingGroupNames = [] } = filter
    if (childCliqueNames.length === 0 && childScalingGroupNames.length === 0) {
      return [
        fieldError.required(
          at,
          'filter must specify at least one childCliqueNames or childScalingGroupNames entry',
        ),
      ]
    }
    return [
      ...unknownNames(childCliqueNames, `${at}.childCliqueNames`, cliqueNames),
      ...unknownNames(childScalingGroupNames, `${at}.childScalingGroupNames`, groupNames),
    ]
  })
  return [...errors, ...filterErrors]
}

/** Claims shared within a scaling group. Its filter may only name members. */
export function validateGroupSharing(
  sharing: readonly ScalingGroupResourceSharing[] | undefined,
  field: string,
  members: ReadonlySet<string>,
  internalTemplates: ReadonlySet<string>,
): FieldError[] {
  const filterErrors = (sharing ?? []).flatMap(({ filter }, index) => {
    if (!filter) return []
    const at = `${field}[${index}].filter`
    const { childCliqueNames = [] } = filter
    if (childCliqueNames.length === 0) {
      return [fieldError.required(at, 'filter must specify at least one childCliqueNames entry')]
    }
    return unknownNames(childCliqueNames, `${at}.childCliqueNames`, members)
  })
  return [...validateSharingList(sharing, field, internalTemplates), ...filterErrors]
}

function unknownNames(names: readonly string[], field: string, known: ReadonlySet<string>): FieldError[] {
  return names.flatMap((name, index) =>
    known.has(name) ? [] : [fieldError.notFound(`${field}[${index}]`, name)],
  )
}
