// SPDX-License-Identifier: Apache-2.0

import type { TopologyConstraint, TopologyPack } from '../types/index.ts'
import { object, string } from './schema.ts'
import type { StructuralSchema, ValidationRule } from './structural-schema.ts'

/** Names of topology domains; any will do that a ClusterTopologyBinding defines. */
export const domainFormat = { minLength: 1, maxLength: 63, pattern: '^[a-z][a-z0-9-]*$' } as const

const packGiven: ValidationRule = {
  rule: 'has(self.pack) || has(self.packDomain)',
  message: 'topologyConstraint must specify pack or deprecated packDomain',
  reason: 'FieldValueRequired',
  fieldPath: '.pack',
}

/** `packDomain` beside only `pack.preferred` is allowed. */
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
        'Name of the ClusterTopologyBinding whose domains are meant. Inherited from the scaling group or the set when left out; all constraints of one set must name the same.',
      ),
      pack: object<TopologyPack>(
        'Packs the pods of each replica into one domain, each replica by itself.',
        {
          required: string(
            'Domain that must hold all pods of a replica; a replica that fits into none is not scheduled. For example zone, block, rack, host.',
            domainFormat,
          ),
          preferred: string(
            'Domain that should hold all pods of a replica; given up when none has room.',
            domainFormat,
          ),
        },
        { rules: [domainGiven] },
      ),
      packDomain: string(
        'Deprecated: the older spelling of `pack.required`. Kept for stored objects, refused in new ones.',
        domainFormat,
      ),
    },
    { rules: [packGiven, oneRequiredDomain] },
  )
}
