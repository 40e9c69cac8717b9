// SPDX-License-Identifier: Apache-2.0

// The objects of manifests, each with its resource and its namespace.
import type { DiscoveredResource, KubeObject, ObjectRef } from '@grove/kube/client'
import { CommandError } from '../command-error.ts'
import type { ManifestDocument } from '../manifests/manifest.ts'
import { readManifestsOf } from '../manifests/manifest-folders.ts'
import { isObject } from '../manifests/manifest-value.ts'
import type { ServedKinds } from './served-kinds.ts'

export interface ManifestObject {
  readonly document: ManifestDocument
  /** `file.yaml:12`. */
  readonly place: string
  readonly apiVersion: string
  readonly kind: string
  readonly value: KubeObject
}

export interface ResolvedObject extends ManifestObject {
  readonly resource: DiscoveredResource
  readonly ref: ObjectRef
}

/** Reads the objects of files, of the manifests in folders, or of standard input, in order. */
export async function readObjects(paths: readonly string[]): Promise<ManifestObject[]> {
  const objects = (await readManifestsOf(paths)).map(objectOf)
  if (objects.length === 0) throw new CommandError(`no objects in ${paths.join(', ')}`)
  return objects
}

export function objectOf(document: ManifestDocument): ManifestObject {
  const { value } = document
  const place = `${document.source}:${document.line}`
  if (!isObject(value)) throw new CommandError(`${place}: this is not a Kubernetes object`)
  const { apiVersion, kind } = value
  if (typeof kind !== 'string' || kind === '') throw new CommandError(`${place}: the object has no kind`)
  if (typeof apiVersion !== 'string' || apiVersion === '')
    throw new CommandError(`${place}: the ${kind} has no apiVersion`)
  return { document, place, apiVersion, kind, value }
}

export interface ResolveOptions {
  /** Namespace of objects that do not set one. */
  readonly namespace: string
  /** True if the user set the namespace. Objects must then not have another one. */
  readonly isExplicit: boolean
  /** True if a definition was applied before, so that the kind may not be served yet. */
  readonly mayAppear?: boolean
}

/** Resolves the resource and the namespace of an object. */
export async function resolveObject(
  object: ManifestObject,
  kinds: ServedKinds,
  { namespace, isExplicit, mayAppear = false }: ResolveOptions,
): Promise<ResolvedObject> {
  const { place, apiVersion, kind, value } = object
  const resource = await kinds.ofKind(apiVersion, kind, mayAppear)
  if (!resource) throw new CommandError(`${place}: ${unknownKind(kinds, apiVersion, kind)}`, 1)
  const metadata = isObject(value.metadata) ? value.metadata : {}
  if (typeof metadata.name !== 'string' || metadata.name === '')
    throw new CommandError(
      `${place}: the ${kind} has no metadata.name${'generateName' in metadata ? '; generateName cannot be applied' : ''}`,
    )
  if (!resource.namespaced) return { ...object, resource, ref: { name: metadata.name } }
  const own = typeof metadata.namespace === 'string' ? metadata.namespace : undefined
  if (own !== undefined && isExplicit && own !== namespace)
    throw new CommandError(`${place}: ${kind} ${metadata.name} has namespace ${own}, not ${namespace}`)
  const ref = { name: metadata.name, namespace: own ?? namespace }
  return {
    ...object,
    value: { ...value, metadata: { ...metadata, namespace: ref.namespace } },
    resource,
    ref,
  }
}

function unknownKind(kinds: ServedKinds, apiVersion: string, kind: string): string {
  return `the cluster serves no ${kind} of ${apiVersion}; ${hintFor(kinds, apiVersion, kind)}`
}

function hintFor(kinds: ServedKinds, apiVersion: string, kind: string): string {
  const others = kinds.versionsOf(kind)
  if (others.length) return `it is served as ${others.join(', ')}`
  const meant = kinds.nearestKind(apiVersion, kind)
  return meant ? `did you mean ${meant}?` : 'are its custom resource definitions installed?'
}
