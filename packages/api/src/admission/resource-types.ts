// SPDX-License-Identifier: Apache-2.0

import { type CustomResourceType, compileSchema } from '@grove/apimachinery'
import { crd, type GroveKind, schemaOf } from '../crds/index.ts'

const compiled = new Map<GroveKind, CustomResourceType>()

/** The data that an API server has about a kind. The schema is compiled once, on first use. */
export function resourceType(kind: GroveKind): CustomResourceType {
  let type = compiled.get(kind)
  if (!type) {
    const { group, scope, versions } = crd(kind).spec
    const version = versions[0]!
    const scale = version.subresources?.scale
    type = {
      apiVersion: `${group}/${version.name}`,
      kind,
      namespaced: scope === 'Namespaced',
      schema: compileSchema(schemaOf(kind)),
      ...(scale && { scale }),
    }
    compiled.set(kind, type)
  }
  return type
}
