// SPDX-License-Identifier: Apache-2.0

import { stringify as toYaml } from 'yaml'
import type { KubeObject } from '../object.ts'
import type { Resource } from '../registry/resource.ts'
import type { Accepted } from './media-type.ts'
import { apiVersionOf, encode } from './presentation.ts'
import type { ObjectList } from './read.ts'
import type { ApiResponse } from './request.ts'
import { apiError, type Status } from './status.ts'
import { encodeTable, type IncludeObject, partialMetadata } from './table.ts'
import type { EventEncoder } from './watch.ts'

export function jsonResponse(
  status: number,
  body: string,
  warnings: readonly string[] = [],
  yaml = false,
): ApiResponse {
  return {
    status,
    headers: {
      'content-type': yaml ? 'application/yaml' : 'application/json',
      'cache-control': 'no-cache, private',
      ...(warnings.length > 0 && { warning: warnings.map(warningHeader) }),
    },
    body: yaml ? toYaml(JSON.parse(body)) : `${body}\n`,
  }
}

export function statusResponse(status: Status, warnings: readonly string[] = []): ApiResponse {
  const response = jsonResponse(status.code ?? 200, JSON.stringify(status), warnings)
  const wait = status.details?.retryAfterSeconds
  return wait ? { ...response, headers: { ...response.headers, 'retry-after': String(wait) } } : response
}

/** `299 - "text"`: miscellaneous persistent warning, no agent. */
function warningHeader(text: string): string {
  const safe = [...text].filter(char => char >= ' ' && char !== '\x7f').join('')
  return `299 - "${safe.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}

/** Encodes objects in the form that the client accepts. */
export class Presenter {
  readonly #resource: Resource
  readonly #accepted: Accepted
  readonly #include: IncludeObject
  readonly #now: () => number

  constructor(resource: Resource, accepted: Accepted, query: URLSearchParams, now: () => number) {
    this.#resource = resource
    this.#accepted = accepted
    this.#now = now
    const include = query.get('includeObject') ?? ''
    if (accepted.shape === 'table' && !['', 'None', 'Metadata', 'Object'].includes(include))
      throw apiError.badRequest(`unrecognized includeObject value: ${include}`)
    this.#include = (include || 'Metadata') as IncludeObject
  }

  object(status: number, object: KubeObject, warnings: readonly string[] = []): ApiResponse {
    return jsonResponse(status, this.#one(object), warnings, this.#accepted.yaml)
  }

  list(list: ObjectList): ApiResponse {
    return jsonResponse(200, this.#many(list), [], this.#accepted.yaml)
  }

  #one(object: KubeObject): string {
    switch (this.#accepted.shape) {
      case 'object':
        return encode(object)
      case 'metadata':
        return JSON.stringify(partialMetadata(object))
      case 'table':
        return encodeTable(
          this.#resource,
          [object],
          { resourceVersion: object.metadata.resourceVersion },
          this.#include,
          this.#now(),
        )
    }
  }

  #many({ items, metadata }: ObjectList): string {
    switch (this.#accepted.shape) {
      case 'object': {
        const head = {
          kind: `${this.#resource.kind}List`,
          apiVersion: apiVersionOf(this.#resource),
          metadata,
        }
        return withItems(
          head,
          items.map(item => encodeItem(this.#resource, item)),
        )
      }
      case 'metadata': {
        const head = { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1', metadata }
        // The API server encodes an absent Go slice here, other than in lists of objects.
        if (items.length === 0) return JSON.stringify({ ...head, items: null })
        return withItems(
          head,
          items.map(item => JSON.stringify(partialMetadata(item))),
        )
      }
      case 'table':
        return encodeTable(this.#resource, items, metadata, this.#include, this.#now())
    }
  }

  /** Encodes whole objects once for all watches. Only the first event of a table has column definitions. */
  events(): EventEncoder {
    if (this.#accepted.shape === 'object') return sharedEvent
    if (this.#accepted.shape === 'metadata')
      return (type, object) => event(type, JSON.stringify(partialMetadata(object)))
    let first = true
    return (type, object) => {
      if (type === 'BOOKMARK')
        return event(type, encodeTable(this.#resource, [], { ...object.metadata }, this.#include, 0, false))
      const metadata = { resourceVersion: object.metadata.resourceVersion }
      const text = encodeTable(this.#resource, [object], metadata, this.#include, this.#now(), first)
      first = false
      return event(type, text)
    }
  }
}

/** Items of lists of built-in kinds have no apiVersion and kind. */
function encodeItem(resource: Resource, item: KubeObject): string {
  const text = encode(item)
  if (!resource.struct) return text
  const repeated = `{"kind":"${item.kind}","apiVersion":"${item.apiVersion}",`
  return text.startsWith(repeated) ? `{${text.slice(repeated.length)}` : text
}

function withItems(head: object, items: readonly string[]): string {
  return `${JSON.stringify(head).slice(0, -1)},"items":[${items.join(',')}]}`
}

function event(type: string, object: string): string {
  return `{"type":"${type}","object":${object}}\n`
}

function sharedEvent(type: string, object: KubeObject): string {
  return event(type, encode(object))
}
