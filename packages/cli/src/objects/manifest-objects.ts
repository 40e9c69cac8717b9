// SPDX-License-Identifier: Apache-2.0

// The objects of manifests, each with its resource and its namespace.
import type { DiscoveredResource, KubeObject, ObjectRef } from '@grove/kube'
import { CommandError } from '../command-error.ts'
import type { ManifestDocument } from '../manifest.ts'
import { readManifestsOf } from '../manifest-folders.ts'
import { isObject } from '../set-manifest.ts'
import type { ServedKinds } from './served-kinds.ts'

export interface ManifestObject {
  /** `file.yaml:12`. */
  readonly place: string
  readonly apiVersion: string
  readonly kind: string
  readonly value: KubeObject
}

export interface PlacedObject extends ManifestObject {
  readonly resource: DiscoveredResource
  readonly ref: ObjectRef
}

/** The objects of files, of the manifests in a folder, or of standard input, in their order. */
export async function readObjects(paths: readonly string[]): Promise<ManifestObject[]> {
  const objects = (await readManifestsOf(paths)).map(objectOf)
  if (objects.length === 0) throw new CommandError(`no objects in ${paths.join(', ')}`)
  return objects
}

export function objectOf(document: ManifestDocument): ManifestObject {
  const { value } = document
  const place = `${document.source}:${document.line}`
  if (!isObject(value)) throw new CommandError(`${place}: this is no Kubernetes object`)
  const { apiVersion, kind } = value
  if (typeof kind !== 'string' || kind === '') throw new CommandError(`${place}: the object has no kind`)
  if (typeof apiVersion !== 'string' || apiVersion === '')
    throw new CommandError(`${place}: the ${kind} has no apiVersion`)
  return { place, apiVersion, kind, value }
}

export interface PlaceOptions {
  /** Where objects go that do not say. */
  readonly namespace: string
  /** Whether that namespace was asked for; then objects must not say another. */
  readonly isAsked: boolean
  /** Whether a definition was applied before, so that the kind may be on its way. */
  readonly mayCome?: boolean
}

/** Says where in the cluster an object belongs. */
export async function placed(
  object: ManifestObject,
  kinds: ServedKinds,
  { namespace, isAsked, mayCome = false }: PlaceOptions,
): Promise<PlacedObject> {
  const { place, apiVersion, kind, value } = object
  const resource = await kinds.ofKind(apiVersion, kind, mayCome)
  if (!resource) throw new CommandError(`${place}: ${unknownKind(kinds, apiVersion, kind)}`, 1)
  const metadata = isObject(value.metadata) ? value.metadata : {}
  if (typeof metadata.name !== 'string' || metadata.name === '')
    throw new CommandError(
      `${place}: the ${kind} has no metadata.name${'generateName' in metadata ? '; generateName cannot be applied' : ''}`,
    )
  if (!resource.namespaced) return { ...object, resource, ref: { name: metadata.name } }
  const own = typeof metadata.namespace === 'string' ? metadata.namespace : undefined
  if (own !== undefined && isAsked && own !== namespace)
    throw new CommandError(`${place}: ${kind} ${metadata.name} says namespace ${own}, not ${namespace}`)
  const ref = { name: metadata.name, namespace: own ?? namespace }
  return {
    ...object,
    value: { ...value, metadata: { ...metadata, namespace: ref.namespace } },
    resource,
    ref,
  }
}

function unknownKind(kinds: ServedKinds, apiVersion: string, kind: string): string {
  const others = kinds.versionsOf(kind)
  const meant = kinds.nearestKind(kind)
  const hint = others.length
    ? `; it is served as ${others.join(', ')}`
    : meant
      ? `; did you mean ${meant}?`
      : '; are its custom resource definitions installed?'
  return `the cluster serves no ${kind} of ${apiVersion}${hint}`
}
