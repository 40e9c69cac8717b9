// SPDX-License-Identifier: Apache-2.0

import type { Clock } from '@grove/kube'
import type { KubeObject } from '../object.ts'
import type { Resource } from '../registry/resource.ts'
import { type Change, type ChangeReader, ChangesForgotten } from '../store/index.ts'
import type { ServerContext } from './context.ts'
import { type ListOptions, parseRevision } from './list-options.ts'
import { apiVersionOf, present } from './presentation.ts'
import type { Selection } from './selection.ts'
import { apiError } from './status.ts'

/** The interval of bookmarks on an idle watch. */
const bookmarkIntervalMs = 60_000

/** The number of changes sent at once. Further changes wait until the client has read these. */
const batchSize = 500

/** The real API server ends a watch without a timeout after 30 to 60 minutes. This is the middle. */
const defaultTimeoutMs = 45 * 60_000

/** Encodes one event for this client: whole objects, tables or only metadata. */
export type EventEncoder = (type: string, object: KubeObject) => string

/** Returns a stream of encoded events, as text chunks. */
export function watchObjects(
  context: ServerContext,
  resource: Resource,
  namespace: string,
  options: ListOptions,
  selection: Selection,
  encodeEvent: EventEncoder,
  signal: AbortSignal | undefined,
): AsyncIterable<string> {
  const asked = parseRevision(options.resourceVersion, true)
  const { store } = context
  const initial = options.sendInitialEvents ?? asked === 0
  if (asked > store.revision && initial) throw apiError.futureRevision(asked, store.revision)
  const prefix = namespace ? `${namespace}/` : ''
  const watch = new Watch(context.clock, signal, (options.timeoutSeconds ?? 0) * 1000 || defaultTimeoutMs)

  const first: string[] = []
  // A client that used another server may send a future revision. It gets the changes from now on.
  let from = initial ? store.revision : Math.min(asked === 0 ? store.revision : asked, store.revision)
  if (initial) {
    const snapshot = store.list(resource.storage, {
      prefix,
      matches: selection && (stored => selection(present(resource, stored))),
    })
    from = snapshot.revision
    for (const stored of snapshot.items) first.push(encodeEvent('ADDED', present(resource, stored)))
    if (options.sendInitialEvents && options.allowBookmarks)
      first.push(encodeEvent('BOOKMARK', bookmark(resource, from, true)))
  }
  try {
    watch.reader = store.watch(resource.storage, from, () => watch.notify())
  } catch (error) {
    watch.stop()
    if (!(error instanceof ChangesForgotten)) throw error
    return oneChunk(first.join('') + errorEvent(error))
  }
  const select = (change: Change) => selectEvent(resource, prefix, selection, change)
  return watch.run({
    first,
    encode: change => {
      const event = select(change)
      return event ? encodeEvent(event.type, event.object) : ''
    },
    bookmark: options.allowBookmarks
      ? () => encodeEvent('BOOKMARK', bookmark(resource, store.revision, false))
      : undefined,
  })
}

interface Feed {
  readonly first: readonly string[]
  encode(change: Change): string
  readonly bookmark: (() => string) | undefined
}

class Watch {
  readonly #clock: Clock
  readonly #timers: { cancel(): void }[] = []
  readonly #signal: AbortSignal | undefined
  reader: ChangeReader | undefined
  #ended = false
  #bookmarkDue = false
  #resume: (() => void) | undefined

  constructor(clock: Clock, signal: AbortSignal | undefined, timeoutMs: number) {
    this.#clock = clock
    this.#signal = signal
    this.#timers.push(clock.setTimeout(() => this.stop(), timeoutMs))
    signal?.addEventListener('abort', this.stop, { once: true })
    if (signal?.aborted) this.stop()
  }

  readonly stop = (): void => {
    this.#ended = true
    this.reader?.stop()
    this.#signal?.removeEventListener('abort', this.stop)
    for (const timer of this.#timers) timer.cancel()
    this.notify()
  }

  notify(): void {
    this.#resume?.()
    this.#resume = undefined
  }

  async *run(feed: Feed): AsyncGenerator<string> {
    try {
      for (let i = 0; i < feed.first.length; i += batchSize) yield feed.first.slice(i, i + batchSize).join('')
      if (feed.bookmark) this.#scheduleBookmark()
      while (!this.#ended) {
        const changes = this.#take()
        if (typeof changes === 'string') {
          yield changes
          return
        }
        let chunk = ''
        for (const change of changes) chunk += feed.encode(change)
        if (changes.length === 0 && this.#bookmarkDue && feed.bookmark) {
          this.#bookmarkDue = false
          chunk += feed.bookmark()
          this.#scheduleBookmark()
        }
        if (chunk !== '') yield chunk
        else if (changes.length === 0) await this.#rest()
      }
    } finally {
      this.stop()
    }
  }

  #take(): readonly Change[] | string {
    try {
      return this.reader!.take(batchSize)
    } catch (error) {
      if (error instanceof ChangesForgotten) return errorEvent(error)
      throw error
    }
  }

  /** Waits for the next change. Changes since the last read are found by the next read. */
  #rest(): Promise<void> {
    if (this.#ended) return Promise.resolve()
    return new Promise(resolve => {
      this.#resume = resolve
    })
  }

  #scheduleBookmark(): void {
    this.#timers[1] = this.#clock.setTimeout(() => {
      this.#bookmarkDue = true
      this.notify()
    }, bookmarkIntervalMs)
  }
}

/** Maps a change to an event of a watch with a selector: an object may start or stop to match. */
function selectEvent(
  resource: Resource,
  prefix: string,
  selection: Selection,
  change: Change,
): { type: Change['type']; object: KubeObject } | undefined {
  if (!change.key.startsWith(prefix)) return undefined
  if (!selection) return { type: change.type, object: present(resource, change.object) }
  const was = change.previous !== undefined && selection(present(resource, change.previous))
  const is = change.type !== 'DELETED' && selection(present(resource, change.object))
  if (is) return { type: was ? 'MODIFIED' : 'ADDED', object: present(resource, change.object) }
  if (!was) return undefined
  if (change.type === 'DELETED') return { type: 'DELETED', object: present(resource, change.object) }
  return { type: 'DELETED', object: lastMatchingState(resource, change) }
}

/** The last matching state, with the revision at which it stopped to match. Computed once for all watches. */
function lastMatchingState(resource: Resource, change: Change): KubeObject {
  let known = departures.get(change)
  if (!known) {
    const { previous, object } = change
    known = {
      ...previous!,
      metadata: { ...previous!.metadata, resourceVersion: object.metadata.resourceVersion },
    }
    departures.set(change, known)
  }
  return present(resource, known)
}

const departures = new WeakMap<Change, KubeObject>()

function bookmark(resource: Resource, revision: number, initialEventsEnd: boolean): KubeObject {
  return {
    kind: resource.kind,
    apiVersion: apiVersionOf(resource),
    metadata: {
      resourceVersion: String(revision),
      ...(initialEventsEnd && { annotations: { 'k8s.io/initial-events-end': 'true' } }),
    },
  }
}

function errorEvent(error: ChangesForgotten): string {
  const { status } = apiError.expired(error.message)
  return `${JSON.stringify({ type: 'ERROR', object: status })}\n`
}

async function* oneChunk(text: string): AsyncGenerator<string> {
  yield text
}
