// SPDX-License-Identifier: Apache-2.0

import { isJsonObject, type JsonObject } from '@grove/apimachinery'
import { type StructuralSchema, schemaOf } from '../crds/index.ts'
import type { ObjectMeta } from '../kubernetes/index.ts'
import type { PodCliqueSet } from '../types/index.ts'
import { compileDecoder, type Decoder, type Peculiarities } from './decoding/decoder.ts'
import { fieldOf, kindOf, maximumLength, type Problem } from './decoding/problem.ts'
import { cut } from './long-texts.ts'
import type { Cause } from './response.ts'

export type Decoded<T> =
  | { readonly ok: true; readonly value: T }
  /** `message` names every field that cannot be decoded, and why. `causes` contains one entry for each. */
  | { readonly ok: false; readonly message: string; readonly causes: readonly Cause[] }

const text: StructuralSchema = { type: 'string' }
const texts: StructuralSchema = { type: 'object', additionalProperties: text }
const int64: StructuralSchema = { type: 'integer', format: 'int64' }

const metadataSchema = {
  type: 'object',
  properties: {
    name: text,
    generateName: text,
    namespace: text,
    uid: text,
    resourceVersion: text,
    selfLink: text,
    generation: int64,
    creationTimestamp: text,
    deletionTimestamp: text,
    deletionGracePeriodSeconds: int64,
    labels: texts,
    annotations: texts,
    finalizers: { type: 'array', items: text },
    ownerReferences: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          apiVersion: text,
          kind: text,
          name: text,
          uid: text,
          controller: { type: 'boolean' },
          blockOwnerDeletion: { type: 'boolean' },
        },
      },
    },
    managedFields: { type: 'array', items: { type: 'object' } },
  },
} satisfies StructuralSchema

/** The declared fields of the metadata of any object. */
const metadataDecoder = compileDecoder(metadataSchema, {})

const claimTemplate = 'template.resourceClaimTemplates[].templateSpec.spec'

const peculiarities: Peculiarities = {
  durations: new Set(['template.terminationDelay']),
  strictLists: new Set(['template.cliques']),
  alsoRequired: new Map([
    [claimTemplate, ['devices']],
    [`${claimTemplate}.devices`, ['requests']],
  ]),
}

let specDecoder: Decoder | undefined

/** Compiled on first use: the schema embeds a pod spec with more than a thousand fields. */
function podCliqueSetSpec(): Decoder {
  specDecoder ??= compileDecoder(schemaOf('PodCliqueSet').properties!.spec!, peculiarities)
  return specDecoder
}

/** Decodes the metadata of an object of any kind. */
export function decodeMetadata(object: JsonObject): Decoded<ObjectMeta> {
  const problems: Problem[] = []
  const metadata = metadataDecoder.decode(object.metadata ?? {}, problems)
  return result(metadata as ObjectMeta, problems, 'metadata')
}

/**
 * Decodes a PodCliqueSet. Wrong types, numbers out of range and malformed quantities or durations are rejected here,
 * before defaulting and schema validation. Required fields that clients may omit are added with empty values. An absent
 * required list becomes null, which the schema rejects.
 */
export function decodePodCliqueSet(object: unknown): Decoded<PodCliqueSet> {
  if (!isJsonObject(object))
    return { ok: false, message: `expected an object, not ${kindOf(object)}`, causes: [] }
  const metadata = decodeMetadata(object)
  if (!metadata.ok) return metadata
  const problems: Problem[] = []
  const spec = podCliqueSetSpec().decode(object.spec ?? {}, problems)
  const isSame = spec === object.spec && metadata.value === object.metadata
  const set = isSame ? object : { ...object, metadata: metadata.value, spec }
  return result(set as unknown as PodCliqueSet, problems, 'spec')
}

/** Returns unknown fields of the metadata, such as `metadata.label`, by name. */
export function unknownMetadata({ metadata }: JsonObject): string[] {
  if (!isJsonObject(metadata)) return []
  const { properties } = metadataSchema
  const owners = Array.isArray(metadata.ownerReferences) ? metadata.ownerReferences : []
  return [
    ...unknownMembers(metadata, properties, 'metadata'),
    ...owners.flatMap((owner, index) =>
      unknownMembers(
        owner,
        properties.ownerReferences.items.properties,
        `metadata.ownerReferences[${index}]`,
      ),
    ),
  ]
}

function unknownMembers(object: unknown, known: object, path: string): string[] {
  if (!isJsonObject(object)) return []
  return Object.keys(object)
    .filter(name => !Object.hasOwn(known, name))
    .map(name => `${path}.${name}`)
}

function result<T>(value: T, problems: readonly Problem[], root: string): Decoded<T> {
  if (problems.length === 0) return { ok: true, value }
  const causes = problems.map(({ path, text }) => ({
    field: fieldOf([...path, root]),
    message: cut(text, maximumLength),
    reason: 'FieldValueInvalid',
  }))
  return { ok: false, message: causes.map(({ field, message }) => `${field}: ${message}`).join('; '), causes }
}
