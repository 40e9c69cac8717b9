// SPDX-License-Identifier: Apache-2.0

import type { CustomResourceDefinition } from '../kubernetes/index.ts'
import { clusterTopologyBinding } from './cluster-topology-binding.ts'
import { customResourceDefinition, type Definition, rootSchema } from './definition.ts'
import { podClique } from './pod-clique.ts'
import { podCliqueScalingGroup } from './pod-clique-scaling-group.ts'
import { podCliqueSet } from './pod-clique-set.ts'
import { podGang } from './pod-gang.ts'
import type { StructuralSchema } from './structural-schema.ts'

export { generatorAnnotation } from './definition.ts'
export { embedded as embeddedSchema, embeddedKubernetesVersions } from './embedded.ts'
export type { StructuralSchema, ValidationRule } from './structural-schema.ts'

export type GroveKind =
  | 'PodClique'
  | 'PodCliqueSet'
  | 'PodCliqueScalingGroup'
  | 'ClusterTopologyBinding'
  | 'PodGang'

/** In installation order. */
const definitions: Readonly<Record<GroveKind, Definition>> = {
  PodClique: podClique,
  PodCliqueSet: podCliqueSet,
  PodCliqueScalingGroup: podCliqueScalingGroup,
  ClusterTopologyBinding: clusterTopologyBinding,
  PodGang: podGang,
}

const made = new Map(
  Object.entries(definitions).map(([kind, definition]) => {
    const schema = rootSchema(definition)
    return [kind, { schema, crd: customResourceDefinition(definition, schema) }]
  }),
)

/** All five, in installation order. They share parts, so copy one before changing it. */
export const customResourceDefinitions: readonly CustomResourceDefinition[] = [...made.values()].map(
  one => one.crd,
)

/** The CustomResourceDefinition of a kind. Always returns the same object. */
export function crd(kind: GroveKind): CustomResourceDefinition {
  return made.get(kind)!.crd
}

/** The schema of the whole object in the CustomResourceDefinition. Always returns the same object. */
export function schemaOf(kind: GroveKind): StructuralSchema {
  return made.get(kind)!.schema
}
