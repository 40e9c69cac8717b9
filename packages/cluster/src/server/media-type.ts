// SPDX-License-Identifier: Apache-2.0

import { apiError } from './status.ts'

/** The forms in which a client may request objects. */
export type Shape = 'object' | 'table' | 'metadata'

export interface Accepted {
  readonly shape: Shape
  readonly yaml: boolean
}

interface Clause {
  readonly type: string
  readonly parameters: Readonly<Record<string, string>>
}

const servedTypes = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']

/** Returns the first media type of the Accept header that this server supports. */
export function negotiate(header: string | undefined): Accepted {
  if (!header) return { shape: 'object', yaml: false }
  let isServed = false
  for (const clause of parseAccept(header)) {
    const yaml = clause.type === 'application/yaml'
    if (!yaml && !['application/json', '*/*', 'application/*'].includes(clause.type)) continue
    isServed = true
    const shape = shapeOf(clause)
    if (shape) return { shape, yaml }
  }
  throw isServed ? apiError.notAcceptable(servedTypes) : apiError.noRepresentation(servedTypes)
}

function shapeOf({ parameters }: Clause): Shape | undefined {
  if (!parameters.as) return 'object'
  if (parameters.g !== 'meta.k8s.io' || (parameters.v !== 'v1' && parameters.v !== 'v1beta1'))
    return undefined
  if (parameters.as === 'Table') return 'table'
  return parameters.as === 'PartialObjectMetadata' || parameters.as === 'PartialObjectMetadataList'
    ? 'metadata'
    : undefined
}

/**
 * Returns the media type of a `content-type` header without parameters, or an empty string if the header is
 * malformed. A semicolon may end the header, but an empty parameter is malformed.
 */
export function mediaTypeOf(header: string | undefined): string {
  const [type = '', ...parameters] = (header ?? '').split(';').map(part => part.trim())
  if (parameters.at(-1) === '') parameters.pop()
  return parameters.every(part => /^[^\s=]+\s*=\s*\S/.test(part)) ? type.toLowerCase() : ''
}

export function parseAccept(header: string): Clause[] {
  return header.split(',').map(text => {
    const [type = '', ...rest] = text.split(';').map(part => part.trim())
    return {
      type: type.toLowerCase(),
      parameters: Object.fromEntries(
        rest.map(part => part.split('=').map(word => word.trim()) as [string, string]),
      ),
    }
  })
}
