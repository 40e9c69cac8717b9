// SPDX-License-Identifier: Apache-2.0

import type { TopologyConstraint, TopologyPack } from '../types/index.ts'
import { object, string } from './schema.ts'
import type { StructuralSchema, ValidationRule } from './structural-schema.ts'

/** Topology domains. Every name that a ClusterTopologyBinding defines is allowed. */
export const domainFormat = { minLength: 1, maxLength: 63, pattern: '^[a-z][a-z0-9-]*$' } as const

const packGiven: ValidationRule = {
  rule: 'has(self.pack) || has(self.packDomain)',
  message: 'topologyConstraint must specify pack or deprecated packDomain',
  reason: 'FieldValueRequired',
  fieldPath: '.pack',
}

/** `packDomain` is allowed together with `pack.preferred` alone. */
const oneRequiredDomain: ValidationRule = {
  rule: '!(has(self.packDomain) && has(self.pack) && has(self.pack.required))',
  message: 'must not set both pack.required and deprecated packDomain',
  fieldPath: '.pack.required',
}

const domainGiven: ValidationRule = {
  rule: 'has(self.required) || has(self.preferred)',
  message: 'pack must specify at least one of required or preferred',
  reason: 'FieldValueRequired',
}

export function topologyConstraint(description: string): StructuralSchema {
  return object<TopologyConstraint>(
    description,
    {
      topologyName: string(
        'Name of the ClusterTopologyBinding that defines the domains. Inherited from the scaling group or the set if absent. All constraints of one set must have the same name.',
      ),
      pack: object<TopologyPack>(
        'Packs the pods of each replica into one domain, independently for each replica.',
        {
          required: string(
            'All pods of a replica must be in one such domain. A replica that does not fit is not scheduled. For example zone, block, rack, host.',
            domainFormat,
          ),
          preferred: string(
            'All pods of a replica should be in one such domain. Ignored if they do not fit.',
            domainFormat,
          ),
        },
        { rules: [domainGiven] },
      ),
      packDomain: string(
        'Deprecated: the older name of `pack.required`. Accepted in stored objects, rejected in new ones.',
        domainFormat,
      ),
    },
    { rules: [packGiven, oneRequiredDomain] },
  )
}
