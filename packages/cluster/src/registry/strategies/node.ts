// SPDX-License-Identifier: Apache-2.0

import { isIPv6 } from 'node:net'
import { equalJson, type FieldError, fieldError, labelValue, qualifiedName } from '@grove/apimachinery'
import type { Node, NodeSpec, NodeStatus } from '../../schema/types.generated.ts'
import type { Strategy } from '../resource.ts'
import { cidr, obeys, oneOf } from '../validation/values.ts'

/** A kubelet registers its node together with its status. */
export const nodeStrategy: Partial<Strategy<Node>> = {
  keepsNewStatus: true,
  validate: object => [...validateSpec(specOf(object)), ...validateAmounts(object.status ?? {})],
  validateUpdate: (object, old) => [
    ...validateSpec(specOf(object)),
    ...validateImmutable(specOf(object), specOf(old)),
  ],
  validateStatusUpdate: object => validateAmounts(object.status ?? {}),
  warnings: object =>
    specOf(object).externalID
      ? ['spec.externalID: this field is deprecated, and is unused by Kubernetes']
      : [],
}

function specOf(object: Node): NodeSpec {
  return object.spec ?? {}
}

export function defaultNode({ spec, status }: Node): void {
  if (status?.capacity && !status.allocatable) status.allocatable = { ...status.capacity }
  if (!spec) return
  // podCIDR is the first of podCIDRs. If they differ, podCIDR wins.
  if (spec.podCIDR && spec.podCIDRs?.[0] !== spec.podCIDR) spec.podCIDRs = [spec.podCIDR]
  if (!spec.podCIDR && spec.podCIDRs?.[0]) spec.podCIDR = spec.podCIDRs[0]
}

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

/** The real API server also reports taints as part of the metadata. */
function validateSpec({ taints = [], podCIDRs = [] }: NodeSpec): FieldError[] {
  const seen = new Set<string>()
  const errors = taints.flatMap(({ key = '', value = '', effect = '' }, index) => {
    const at = `metadata.taints[${index}]`
    const found = [...obeys(key, qualifiedName, `${at}.key`), ...obeys(value, labelValue, `${at}.value`)]
    if (effect === '') found.push(fieldError.required(`${at}.effect`))
    else found.push(...oneOf(effect, effects, `${at}.effect`))
    if (seen.has(`${key} ${effect}`))
      found.push({
        ...fieldError.duplicate(at, { Key: key, Value: value, Effect: effect, TimeAdded: null }),
        detail: 'taints must be unique by key and effect pair',
      })
    seen.add(`${key} ${effect}`)
    return found
  })
  errors.push(...podCIDRs.flatMap((network, index) => obeys(network, cidr, `spec.podCIDRs[${index}]`)))
  const families = new Set(podCIDRs.map(network => isIPv6(network.split('/')[0] ?? '')))
  if (podCIDRs.length > families.size)
    errors.push(
      fieldError.invalid('spec.podCIDRs', podCIDRs, 'may specify no more than one CIDR for each IP family'),
    )
  return errors
}

/** Rejects changes of immutable fields. */
function validateImmutable(spec: NodeSpec, old: NodeSpec): FieldError[] {
  const errors: FieldError[] = []
  if (old.podCIDRs?.length && !equalJson(spec.podCIDRs, old.podCIDRs))
    errors.push(
      fieldError.forbidden('spec.podCIDRs', 'node updates may not change podCIDR except from "" to valid'),
    )
  if (old.providerID && spec.providerID !== old.providerID)
    errors.push(fieldError.invalid('spec.providerID', null, 'field cannot be modified once set'))
  return errors
}

/** Extended resources are integers. */
function validateAmounts(status: NodeStatus): FieldError[] {
  return (['capacity', 'allocatable'] as const).flatMap(part =>
    Object.entries(status[part] ?? {}).flatMap(([name, amount]) => {
      const at = `status.${part}.${name}`
      if (amount.startsWith('-'))
        return [fieldError.invalid(at, amount, 'must be greater than or equal to 0')]
      return name.includes('/') && amount.endsWith('m')
        ? [fieldError.invalid(at, amount, 'must be an integer')]
        : []
    }),
  )
}
