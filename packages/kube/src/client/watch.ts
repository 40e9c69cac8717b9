// SPDX-License-Identifier: Apache-2.0

import { codeOf, KubeError, type RequestDescription, type Status } from './error.ts'
import { memberAt } from './json-cut.ts'
import { LineSplitter, LineTooLongError } from './line-splitter.ts'
import { parseWithoutManagedFields } from './managed-fields.ts'
import type { KubeObject, ObjectMeta, Stored } from './object.ts'
import { describe, hasVersion, isNamed, transportError } from './response.ts'
import type { TransportStream } from './transport.ts'

export type WatchEvent<T extends KubeObject = KubeObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: Stored<T> }
  /** Everything up to this resourceVersion has been sent. */
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly initialEventsEnd: boolean }

const initialEventsEnd = 'k8s.io/initial-events-end'

/** An etcd value is at most 1.5 MiB and its JSON a few times that. A longer line is not an event. */
const maxLineBytes = 32 * 1024 * 1024

/** The start of ADDED and MODIFIED events, as every API server writes them. */
const knownPrefixes = ['ADDED', 'MODIFIED'].map(type => Buffer.from(`{"type":"${type}",`))
const versionPath = ['object', 'metadata', 'resourceVersion'].map(name => Buffer.from(name))

/**
 * Calls back for the events of a stream until it ends. Drops bytes after the last complete line: a watch that resumes
 * from the last event receives that event again.
 */
export async function readWatch<T extends KubeObject>(
  stream: TransportStream,
  request: RequestDescription,
  onEvent: (event: WatchEvent<T>) => void,
  managedFields = true,
  known: ReadonlySet<string> = new Set(),
): Promise<void> {
  const lines = new LineSplitter(maxLineBytes)
  const onLine = (line: Buffer) =>
    onEvent(knownEvent(line, known) ?? parseWatchEvent(line, request, managedFields))
  try {
    for await (const chunk of stream.body) lines.push(chunk, onLine)
  } catch (error) {
    throw error instanceof LineTooLongError
      ? malformed(error.message, request)
      : transportError(request, error)
  }
}

/**
 * Returns a bookmark for an event whose version the caller has: everything up to it has been sent. Finding the
 * version takes a small part of the time of parsing the line.
 */
function knownEvent(line: Buffer, known: ReadonlySet<string>): WatchEvent<never> | undefined {
  if (known.size === 0 || !knownPrefixes.some(begin => line.subarray(0, begin.length).equals(begin)))
    return undefined
  const member = memberAt(line, versionPath)
  const resourceVersion = member && /"([^"]*)"\s*$/.exec(member)?.[1]
  if (!resourceVersion || !known.has(resourceVersion)) return undefined
  return { type: 'BOOKMARK', resourceVersion, initialEventsEnd: false }
}

/** Parses one line of a watch. Throws a KubeError for an ERROR event and for anything that is not an event. */
function parseWatchEvent<T extends KubeObject>(
  line: Buffer,
  request: RequestDescription,
  managedFields: boolean,
): WatchEvent<T> {
  let event: { type?: string; object?: Stored<T> & Status }
  try {
    event = (
      managedFields ? JSON.parse(line.toString()) : parseWithoutManagedFields(line, 'event')
    ) as typeof event
  } catch (cause) {
    throw malformed('a line of the watch is not JSON', request, cause)
  }
  const { type, object } = event ?? {}
  if (!object) throw malformed('a line of the watch has no object', request)
  if (type !== 'ERROR' && !hasVersion(object))
    throw malformed('an object of the watch has no resourceVersion', request)
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      // A Table contains the object in a row. Its own metadata has no name.
      if (object.kind !== 'Table' && !isNamed(object))
        throw malformed('an object of the watch has no name', request)
      return event as WatchEvent<T>
    case 'BOOKMARK':
      return {
        type,
        resourceVersion: object.metadata.resourceVersion,
        initialEventsEnd: (object.metadata as ObjectMeta).annotations?.[initialEventsEnd] === 'true',
      }
    case 'ERROR':
      throw new KubeError({
        code: codeOf(object.code ?? 500, object.reason),
        message: object.message ?? 'the server ended the watch with an error',
        request: describe(request),
        status: object.code,
        reason: object.reason,
        details: object.details,
        retryAfterSeconds: object.details?.retryAfterSeconds,
      })
    default:
      throw malformed(`unknown watch event type ${JSON.stringify(type)}`, request)
  }
}

function malformed(message: string, request: RequestDescription, cause?: unknown): KubeError {
  return new KubeError({ code: 'Malformed', message, request: describe(request), cause })
}
