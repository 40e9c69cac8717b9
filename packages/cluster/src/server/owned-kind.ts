// SPDX-License-Identifier: Apache-2.0

import {
  emptyObject,
  fieldTypeOfSchema,
  fieldTypeOfStruct,
  type JSONSchemaProps,
  managedByMain,
  managedByStatus,
  type OwnedKind,
} from '@grove/apimachinery'
import type { Resource } from '../registry/resource.ts'
import { apiVersionOf } from './presentation.ts'

const known = new WeakMap<Resource, Map<string, OwnedKind>>()

/** Returns the field types and reset fields of a resource and subresource. Computed once. */
export function ownedKindOf(resource: Resource, subresource: string): OwnedKind {
  let kinds = known.get(resource)
  if (!kinds) {
    kinds = new Map()
    known.set(resource, kinds)
  }
  let kind = kinds.get(subresource)
  if (!kind) {
    kind = makeKind(resource, subresource)
    kinds.set(subresource, kind)
  }
  return kind
}

function makeKind(resource: Resource, subresource: string): OwnedKind {
  const { kind, struct, strategy } = resource
  const apiVersion = apiVersionOf(resource)
  return {
    apiVersion,
    kind,
    type: struct
      ? fieldTypeOfStruct(struct)
      : fieldTypeOfSchema((resource.schema ?? { type: 'object' }) as JSONSchemaProps),
    empty: struct ? emptyObject(struct, apiVersion, kind) : { apiVersion, kind },
    filter:
      subresource === 'status'
        ? managedByStatus(kind, { custom: !struct })
        : // The scale subresource has its own kind, and no client writes its status.
          strategy.hasStatus && subresource !== 'scale'
          ? managedByMain
          : undefined,
    subresource,
  }
}
