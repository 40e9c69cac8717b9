// SPDX-License-Identifier: Apache-2.0

import type { KubeObject, ObjectRef } from './object.ts'

declare const objectType: unique symbol

/** The location of a kind in the API and, for the compiler only, the type of its objects. */
export interface Resource<T extends KubeObject = KubeObject> {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  /** The plural in the URL: `pods`. */
  readonly resource: string
  readonly kind: string
  readonly namespaced: boolean
  readonly [objectType]?: T
}

export type ResourceDescriptor = Pick<Resource, 'group' | 'version' | 'resource' | 'kind' | 'namespaced'>

/** Adds the type of the objects to a descriptor: `const pods = defineResource<Pod>({ … })`. */
export function defineResource<T extends KubeObject>(descriptor: ResourceDescriptor): Resource<T> {
  return descriptor
}

export function apiVersionOf({ group, version }: ResourceDescriptor): string {
  return group === '' ? version : `${group}/${version}`
}

/** `pods`, `deployments.apps`: unique among the resources of a cluster, regardless of the version. */
export function resourceName({ group, resource }: ResourceDescriptor): string {
  return group === '' ? resource : `${resource}.${group}`
}

/** Returns the URL path of a resource, in one namespace or (without one) in the cluster. */
export function collectionPath(resource: ResourceDescriptor, namespace?: string): string {
  const root =
    resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`
  if (!resource.namespaced || namespace === undefined || namespace === '')
    return `${root}/${resource.resource}`
  return `${root}/namespaces/${encodeURIComponent(namespace)}/${resource.resource}`
}

/** Returns the URL path of an object or of its subresource. */
export function objectPath(resource: ResourceDescriptor, ref: ObjectRef, subresource?: string): string {
  if (!ref.name) throw new TypeError(`a ${resource.kind} must be addressed by name`)
  if (resource.namespaced && !ref.namespace)
    throw new TypeError(`${resource.kind} ${ref.name} must be addressed by namespace and name`)
  const path = `${collectionPath(resource, ref.namespace)}/${encodeURIComponent(ref.name)}`
  return subresource ? `${path}/${subresource}` : path
}

/** Returns the namespace of a path; empty for cluster-scoped paths. */
export function namespaceOfPath(path: string): string {
  return /^\/apis?\/.*?\/namespaces\/([^/?]+)/.exec(path)?.[1] ?? ''
}
