// SPDX-License-Identifier: Apache-2.0

// Lists and watches pods through every failure of the connection to the API server. Not promised: that each change is
// seen; after a gap a new snapshot follows.
import { Backoff } from './backoff.ts'
import { type Clock, pause } from './clock.ts'
import { type Pod, podCliqueLabel, type SeenPod, seenPod } from './pod.ts'
import { linesOf, ResponseError, readError, type StatusObject, textOf } from './response.ts'
import type { Timing } from './timing.ts'
import type { Transport, TransportStream } from './transport.ts'

export type PodWatchEvent =
  | { readonly kind: 'snapshot'; readonly pods: readonly SeenPod[] }
  | { readonly kind: 'changed'; readonly pod: SeenPod }
  | { readonly kind: 'deleted'; readonly name: string }
  /** The watch is open (again). */
  | { readonly kind: 'connected' }
  /** A request failed and will be retried. */
  | { readonly kind: 'failed'; readonly message: string }

export interface PodWatchOptions {
  readonly transport: Transport
  readonly namespace: string
  /** Pods of these PodCliques, by label. */
  readonly cliques: readonly string[]
  readonly clock: Clock
  readonly random: () => number
  readonly timing: Timing
  readonly signal: AbortSignal
}

/** Pods can be large, and a page is held in memory as text and as objects. */
const pageSize = 100
/** After this many failures in a row, the version may be unknown to the server (a restored etcd), so list again. */
const failuresBeforeNewList = 3

/** Never throws and ends only with the signal. Failures are yielded and retried. */
export async function* watchPods(options: PodWatchOptions): AsyncGenerator<PodWatchEvent> {
  const { clock, random, timing, signal } = options
  const backoff = new Backoff(timing, random)
  // "0" allows the server to respond from its watch cache, which is cheap when many pods start at once.
  let listAt = '0'
  let version: string | undefined
  await pause(clock, random() * timing.startJitterMs, signal)
  while (!signal.aborted) {
    let retryAfterMs: number | undefined
    try {
      if (version === undefined) {
        const list = await listPods(options, listAt)
        yield { kind: 'snapshot', pods: list.pods }
        version = list.version
        // Later lists must be consistent: the watch cache may be older than the pods already seen and show them as
        // ready.
        listAt = ''
      }
      const response = await openWatch(options, version)
      yield { kind: 'connected' }
      for await (const event of watchEvents(response)) {
        backoff.reset()
        version = event.version ?? version
        if (event.podEvent) yield event.podEvent
      }
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof ResponseError) retryAfterMs = error.retryAfterMs
      if (error instanceof ResponseError && error.isExpired) listAt = ''
      if (
        (error instanceof ResponseError && error.isExpired) ||
        backoff.failures + 1 >= failuresBeforeNewList
      )
        version = undefined
      yield { kind: 'failed', message: error instanceof Error ? error.message : String(error) }
    }
    // Also after a watch that ended normally: a server that ends every watch at once must not cause a request loop.
    await pause(clock, backoff.next(retryAfterMs), signal)
  }
}

interface PodList {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string }
  readonly items?: readonly Pod[] | null
}

/** All pages come from one snapshot. Pods are returned only after the last page. */
async function listPods(
  options: PodWatchOptions,
  at: string,
): Promise<{ readonly pods: readonly SeenPod[]; readonly version: string }> {
  const pods: SeenPod[] = []
  let page: string | undefined
  for (;;) {
    const from: Record<string, string> = page === undefined ? { resourceVersion: at } : { continue: page }
    const response = await requestPods(
      options,
      { ...from, limit: String(pageSize) },
      options.timing.listSilenceMs,
    )
    const { metadata, items } = JSON.parse(await textOf(response.body)) as PodList
    for (const pod of items ?? []) pods.push(seenPod(pod))
    page = metadata?.continue || undefined
    if (page === undefined) return { pods, version: metadata?.resourceVersion ?? '' }
  }
}

function openWatch(options: PodWatchOptions, version: string): Promise<TransportStream> {
  const { random, timing } = options
  const seconds = Math.round((timing.minWatchMs * (1 + random())) / 1_000)
  return requestPods(
    options,
    { watch: 'true', allowWatchBookmarks: 'true', resourceVersion: version, timeoutSeconds: String(seconds) },
    timing.watchSilenceMs,
  )
}

async function requestPods(
  { transport, namespace, cliques, signal }: PodWatchOptions,
  parameters: Readonly<Record<string, string>>,
  timeoutMs: number,
): Promise<TransportStream> {
  const query = new URLSearchParams({
    labelSelector: `${podCliqueLabel} in (${cliques.join(',')})`,
    ...parameters,
  })
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods?${query}`
  const headers = { accept: 'application/json', 'user-agent': 'grove-waiter' }
  const response = await transport.stream({ method: 'GET', path, headers, timeoutMs, signal })
  if (response.status !== 200) throw await readError(response)
  return response
}

interface WatchEvent {
  readonly version?: string | undefined
  readonly podEvent?: PodWatchEvent
}

async function* watchEvents(response: TransportStream): AsyncGenerator<WatchEvent> {
  for await (const line of linesOf(response.body)) yield watchEvent(line)
}

function watchEvent(line: string): WatchEvent {
  const { type, object } = JSON.parse(line) as { type?: string; object?: Pod & StatusObject }
  const version = object?.metadata?.resourceVersion
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
      return { version, podEvent: { kind: 'changed', pod: seenPod(object!) } }
    case 'DELETED':
      return { version, podEvent: { kind: 'deleted', name: object!.metadata!.name! } }
    case 'BOOKMARK':
      return { version }
    case 'ERROR':
      throw new ResponseError(object?.code ?? 500, object?.message ?? object?.reason ?? 'the watch failed')
    default:
      throw new Error(`the watch brought an event of the unknown type ${type}`)
  }
}
