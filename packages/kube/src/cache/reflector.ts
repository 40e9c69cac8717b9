// SPDX-License-Identifier: Apache-2.0

import {
  type Client,
  isKubeError,
  KubeError,
  type KubeObject,
  type Resource,
  type SelectOptions,
  type Stored,
  type WatchEvent,
} from '../client/index.ts'
import type { Clock } from '../clock/index.ts'
import { Backoff } from './backoff.ts'

/** The receiver of a reflector's input. ObjectCache implements it. */
export interface ReflectorTarget<T extends KubeObject> {
  readonly resourceVersion: string | undefined
  /** Versions that the target already has; the client may skip parsing their events. */
  readonly known?: ReadonlySet<string>
  beginList(): void
  listed(object: Stored<T>): void
  endList(resourceVersion: string): boolean
  watched(event: WatchEvent<T>): void
}

export interface ReflectorOptions<T extends KubeObject> {
  readonly client: Client
  readonly resource: Resource<T>
  readonly scope: SelectOptions
  /** Passed on to the client's requests. */
  readonly managedFields?: boolean
  readonly target: ReflectorTarget<T>
  readonly clock: Clock
  readonly random: () => number
  /** Ask for streaming lists. The reflector detects servers without them and then lists page by page. */
  readonly streamingList: boolean
  readonly idleTimeoutMs?: number
  /** Called for each message of the server, bookmarks included. */
  readonly onContact: () => void
  readonly onListed: () => void
  readonly onFailure: (error: KubeError, retryInMs: number) => void
}

/** A watch lasts this long, at random up to twice as long, as in client-go. So not all watches end together. */
const minWatchSeconds = 300

const firstBackoffMs = 100
const maxBackoffMs = 30_000

/** A watch that the server ends sooner, without any event, counts as a failure. This prevents a tight loop. */
const minQuietWatchMs = 1_000

/**
 * Keeps a target up to date with the server: lists, watches, and continues after every interruption. Lists again only
 * if the server no longer has the history in between. Never gives up before its signal is aborted.
 */
export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>
  readonly #backoff: Backoff
  #streaming: boolean
  #mustList = true
  #hadContact = false

  constructor(options: ReflectorOptions<T>) {
    this.#options = options
    this.#streaming = options.streamingList
    this.#backoff = new Backoff(firstBackoffMs, maxBackoffMs, options.random)
  }

  /** Resolves when the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, onFailure } = this.#options
    while (!signal.aborted) {
      const startedAt = clock.monotonic()
      this.#hadContact = false
      let failure = await this.#attempt(signal)
      if (signal.aborted) return
      const tooShort = !this.#hadContact && clock.monotonic() - startedAt < minQuietWatchMs
      if (!failure && tooShort) failure = endedAtOnce()
      if (!failure) continue
      this.#learnFrom(failure)
      const wait = this.#backoff.next()
      onFailure(failure, wait)
      await clock.sleep(wait, signal).catch(() => {})
    }
  }

  async #attempt(signal: AbortSignal): Promise<KubeError | undefined> {
    try {
      if (!this.#mustList) await this.#watch(signal)
      else if (this.#streaming) await this.#listStreaming(signal)
      else await this.#listPaged(signal)
      return undefined
    } catch (error) {
      if (isKubeError(error)) return error
      throw error
    }
  }

  #learnFrom(failure: KubeError): void {
    if (failure.code === 'Gone' || isFromTheFuture(failure)) this.#mustList = true
    // A server without streaming lists rejects the parameter as invalid.
    if (this.#mustList && (failure.code === 'Invalid' || failure.code === 'BadRequest'))
      this.#streaming = false
  }

  /** One request that first sends all objects and then continues as a watch. */
  async #listStreaming(signal: AbortSignal): Promise<void> {
    const { target } = this.#options
    let listing = true
    const restart = new AbortController()
    target.beginList()
    try {
      await this.#stream(
        { sendInitialEvents: true, signal: AbortSignal.any([signal, restart.signal]) },
        event => {
          if (!listing) target.watched(event)
          else if (event.type === 'BOOKMARK') {
            if (!event.initialEventsEnd) return
            listing = false
            if (!this.#finishList(event.resourceVersion)) restart.abort()
          } else target.listed(event.object)
        },
      )
    } catch (error) {
      if (!restart.signal.aborted) throw error
    }
  }

  async #listPaged(signal: AbortSignal): Promise<void> {
    const { client, resource, scope, managedFields, target, onContact } = this.#options
    let resourceVersion = ''
    target.beginList()
    for await (const page of client.pages(resource, { ...scope, managedFields, signal })) {
      onContact()
      for (const object of page.items) target.listed(object)
      resourceVersion = page.resourceVersion
    }
    this.#onContact()
    this.#finishList(resourceVersion)
  }

  #finishList(resourceVersion: string): boolean {
    const complete = this.#options.target.endList(resourceVersion)
    this.#mustList = !complete
    if (complete) this.#options.onListed()
    return complete
  }

  #watch(signal: AbortSignal): Promise<void> {
    const { target } = this.#options
    return this.#stream({ resourceVersion: target.resourceVersion, signal }, event => target.watched(event))
  }

  #stream(
    start: { sendInitialEvents?: boolean; resourceVersion?: string; signal: AbortSignal },
    onEvent: (event: WatchEvent<T>) => void,
  ): Promise<void> {
    const { client, resource, scope, managedFields, target, random, idleTimeoutMs } = this.#options
    const timeoutSeconds = Math.round(minWatchSeconds * (1 + random()))
    const { known } = target
    const options = { ...scope, ...start, managedFields, known, timeoutSeconds, idleTimeoutMs }
    return client.watch(resource, options, event => {
      this.#onContact()
      onEvent(event)
    })
  }

  #onContact(): void {
    this.#options.onContact()
    if (this.#hadContact) return
    this.#hadContact = true
    this.#backoff.reset()
  }
}

/**
 * The server does not know a resourceVersion that was already seen: it was restored from a backup, or is another
 * server.
 */
function isFromTheFuture(error: KubeError): boolean {
  return error.details?.causes?.some(cause => cause.reason === 'ResourceVersionTooLarge') ?? false
}

function endedAtOnce(): KubeError {
  return new KubeError({ code: 'Network', message: 'the server ended the watch at once without an event' })
}
