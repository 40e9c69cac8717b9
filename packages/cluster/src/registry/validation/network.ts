// SPDX-License-Identifier: Apache-2.0

import { type FieldError, fieldError } from '@grove/apimachinery'
import type { NetworkingIngress, NetworkingNetworkPolicy } from '../../schema/types.generated.ts'
import { oneOf } from './values.ts'

export function validateNetworkPolicy({ spec = {} }: NetworkingNetworkPolicy): FieldError[] {
  return (spec.policyTypes ?? []).flatMap((type, index) =>
    oneOf(type, ['Ingress', 'Egress'], `spec.policyTypes[${index}]`),
  )
}

export function validateIngress({ spec = {} }: NetworkingIngress): FieldError[] {
  return spec.defaultBackend || spec.rules?.length
    ? []
    : [fieldError.invalid('spec', null, 'either `defaultBackend` or `rules` must be specified')]
}
