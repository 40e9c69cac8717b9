// SPDX-License-Identifier: Apache-2.0

// The script of the page: shows the document of the current route, and reads it again after every change.
import type { ViewNode } from '../src/view/element.ts'
import { errorView, pageView, titleOf } from '../src/view/page.ts'
import { documentPath, type Route, routeOf } from '../src/view/route.ts'
import { patchChildren } from './patch.ts'

/** Interval at which displayed ages are updated. */
const agesEveryMs = 10_000
/** Without a stream of changes the page reads its document at this interval. */
const pollEveryMs = 10_000

const main = document.querySelector('main')!
const state = document.querySelector('#connection')!

let route: Route = routeOf(location.hash)
let shown: { readonly route: Route; readonly document: unknown } | undefined
/** Aborts the request of the previous route. */
let reading = new AbortController()
let isReading = false
let isOutdated = false

function draw(views: readonly ViewNode[]): void {
  patchChildren(main, views)
}

function redraw(): void {
  if (shown) draw(pageView(shown.route, shown.document, Date.now()))
}

/** One request at a time: all changes that arrive meanwhile cause one further request. */
async function read(): Promise<void> {
  if (isReading) {
    isOutdated = true
    return
  }
  isReading = true
  const { signal } = reading
  const requested = route
  try {
    const response = await fetch(documentPath(requested), { signal, cache: 'no-cache' })
    const document = (await response.json()) as { readonly error?: string }
    if (signal.aborted) return
    if (response.ok) {
      shown = { route: requested, document }
      redraw()
    } else {
      shown = undefined
      draw(errorView(document.error ?? `The dashboard returned status ${response.status}.`))
    }
  } catch {
    if (!signal.aborted && !shown) draw(errorView('The dashboard does not respond. Is it still running?'))
  } finally {
    isReading = false
    if (isOutdated) {
      isOutdated = false
      void read()
    }
  }
}

function navigate(): void {
  route = routeOf(location.hash)
  reading.abort()
  reading = new AbortController()
  document.title = titleOf(route)
  for (const link of document.querySelectorAll('nav a')) {
    const isCurrent = routeOf(link.getAttribute('href') ?? '').page === route.page
    if (isCurrent) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  }
  shown = undefined
  isOutdated = false
  draw([])
  if (isReading) isOutdated = true
  else void read()
}

function setConnected(isConnected: boolean): void {
  const text = isConnected ? 'live' : 'not live'
  if (state.textContent === text) return
  state.textContent = text
  state.className = isConnected ? 'good' : 'bad'
}

let changes: EventSource | undefined
let retry: ReturnType<typeof setTimeout> | undefined

function follow(): void {
  unfollow()
  changes = new EventSource('api/changes')
  changes.onopen = () => setConnected(true)
  changes.onmessage = () => void read()
  changes.onerror = () => {
    setConnected(false)
    // The browser reconnects, unless the server rejected the request.
    if (changes?.readyState !== EventSource.CLOSED) return
    retry = setTimeout(() => {
      void read()
      follow()
    }, pollEveryMs)
  }
}

function unfollow(): void {
  changes?.close()
  clearTimeout(retry)
}

// A browser opens only six connections to a server, and each stream occupies one. Hidden pages need none.
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') unfollow()
  else follow()
})
addEventListener('hashchange', () => {
  navigate()
  // Keyboard users and screen readers continue at the start of the new page.
  main.focus()
})
setInterval(redraw, agesEveryMs)
navigate()
follow()
