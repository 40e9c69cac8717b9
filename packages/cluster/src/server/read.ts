// SPDX-License-Identifier: Apache-2.0

import { type KubeObject, objectKey } from '../object.ts'
import type { Resource } from '../registry/resource.ts'
import { ChangesForgotten } from '../store/index.ts'
import type { ServerContext } from './context.ts'
import {
  type ContinueToken,
  ContinueTokenError,
  decodeContinueToken,
  encodeContinueToken,
} from './continue-token.ts'
import { type ListOptions, parseRevision } from './list-options.ts'
import { present } from './presentation.ts'
import type { Selection } from './selection.ts'
import { apiError } from './status.ts'

export interface ObjectList {
  readonly items: readonly KubeObject[]
  readonly metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number }
}

export function getObject(
  context: ServerContext,
  resource: Resource,
  namespace: string,
  name: string,
): KubeObject {
  const stored = context.store.get(resource.storage, objectKey(namespace, name))
  if (!stored) throw apiError.notFound(resource, name)
  return present(resource, stored)
}

export function listObjects(
  context: ServerContext,
  resource: Resource,
  namespace: string,
  options: ListOptions,
  selection: Selection,
): ObjectList {
  const prefix = namespace ? `${namespace}/` : ''
  const page = pageOf(context, options, prefix)
  const snapshot = atRevision(
    () =>
      context.store.list(resource.storage, {
        prefix,
        start: page.start,
        limit: options.limit,
        revision: page.revision,
        matches: selection && (stored => selection(present(resource, stored))),
      }),
    options.continue !== '',
  )
  return {
    items: resource.conversion ? snapshot.items.map(item => present(resource, item)) : snapshot.items,
    metadata: {
      resourceVersion: String(snapshot.revision),
      ...(snapshot.next !== undefined && {
        continue: encodeContinueToken({
          revision: snapshot.revision,
          start: snapshot.next.slice(prefix.length),
        }),
        // With a selector the real API server does not report the number of remaining items.
        ...(!selection && { remainingItemCount: snapshot.remaining }),
      }),
    },
  }
}

function pageOf(
  context: ServerContext,
  options: ListOptions,
  prefix: string,
): { start?: string; revision?: number } {
  if (options.continue) {
    const { start, revision } = readToken(options.continue)
    if (options.resourceVersion !== '' && options.resourceVersion !== '0')
      throw apiError.badRequest('specifying resource version is not allowed when using continue')
    return { start: prefix + start, ...(revision > 0 && { revision }) }
  }
  const asked = parseRevision(options.resourceVersion)
  if (asked > context.store.revision) throw apiError.futureRevision(asked, context.store.revision)
  return options.match === 'Exact' ? { revision: asked } : {}
}

function readToken(text: string): ContinueToken {
  try {
    return decodeContinueToken(text)
  } catch (error) {
    if (!(error instanceof ContinueTokenError)) throw error
    throw apiError.badRequest(`invalid continue token: continue key is not valid: ${error.message}`)
  }
}

function atRevision<T>(read: () => T, paging: boolean): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ChangesForgotten)) throw error
    throw apiError.expired(
      paging
        ? 'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.'
        : 'The resourceVersion for the provided list is too old.',
    )
  }
}
