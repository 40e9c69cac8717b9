// SPDX-License-Identifier: Apache-2.0

// The last-applied annotation of client-side `kubectl apply`. A migration to `kubectl apply --server-side`
// must not cause conflicts with it.
import { isJsonObject, type JsonObject } from '../json-value.ts'
import { compare } from './compare.ts'
import { conformanceError } from './conformance.ts'
import { difference, hasPath } from './field-set.ts'
import { goJson } from './go-text.ts'
import type { OwnedKind } from './object-kind.ts'
import type { FieldPath } from './path-element.ts'
import { toFieldSet } from './to-field-set.ts'

const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration'

/** The limit of all annotations of an object, in bytes. */
const annotationsLimit = 256 * 1024

/** Returns the fields of the annotation whose values are unchanged. Undefined without a valid annotation. */
export function allowedByLastApplied(
  live: JsonObject,
  kind: OwnedKind,
): ((path: FieldPath) => boolean) | undefined {
  const lastApplied = readLastApplied(live)
  if (!lastApplied || lastApplied.apiVersion !== kind.apiVersion) return undefined
  if (conformanceError(lastApplied, kind.type, { allowDuplicates: false })) return undefined
  if (conformanceError(live, kind.type, { allowDuplicates: false })) return undefined
  const { added, removed, modified } = compare(lastApplied, live, kind.type)
  const covered = [modified, added, removed].reduce(difference, toFieldSet(lastApplied, kind.type))
  return path => hasPath(covered, path)
}

function readLastApplied(live: JsonObject): JsonObject | undefined {
  const text = annotationsOf(live)?.[lastAppliedAnnotation]
  if (typeof text !== 'string' || text === '') return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Updates the annotation of an object that has one. */
export function syncLastApplied(object: JsonObject, configuration: JsonObject): JsonObject {
  const annotations = annotationsOf(object)
  if (!annotations?.[lastAppliedAnnotation]) return object
  const { [lastAppliedAnnotation]: _, ...others } = annotations
  const value = `${goJson(withoutAnnotation(configuration))}\n`
  const updated =
    sizeOf(others) + lastAppliedAnnotation.length + Buffer.byteLength(value) > annotationsLimit
      ? others
      : { ...annotations, [lastAppliedAnnotation]: value }
  return { ...object, metadata: { ...(object.metadata as JsonObject), annotations: updated } }
}

function withoutAnnotation(configuration: JsonObject): JsonObject {
  const annotations = annotationsOf(configuration)
  if (!annotations || !Object.hasOwn(annotations, lastAppliedAnnotation)) return configuration
  const { [lastAppliedAnnotation]: _, ...others } = annotations
  return { ...configuration, metadata: { ...(configuration.metadata as JsonObject), annotations: others } }
}

function annotationsOf(object: JsonObject): JsonObject | undefined {
  const { metadata } = object
  return isJsonObject(metadata) && isJsonObject(metadata.annotations) ? metadata.annotations : undefined
}

function sizeOf(annotations: JsonObject): number {
  let size = 0
  for (const [key, value] of Object.entries(annotations))
    size += key.length + Buffer.byteLength(String(value))
  return size
}
