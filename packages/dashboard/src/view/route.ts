// SPDX-License-Identifier: Apache-2.0

export type Route =
  | { readonly page: 'overview' }
  | { readonly page: 'nodes' }
  | { readonly page: 'set'; readonly namespace: string; readonly name: string }

/** The page that the fragment of the address names. Unknown fragments are the overview. */
export function routeOf(fragment: string): Route {
  const [, page, namespace, name] = /^#\/(nodes|sets)(?:\/([^/]+)\/([^/]+))?$/.exec(fragment) ?? []
  if (page === 'nodes') return { page }
  try {
    if (page === 'sets' && namespace && name)
      return { page: 'set', namespace: decodeURIComponent(namespace), name: decodeURIComponent(name) }
  } catch {
    // The fragment was not encoded by this page.
  }
  return { page: 'overview' }
}

export function setLink(namespace: string, name: string): string {
  return `#/sets/${encoded(namespace)}/${encoded(name)}`
}

/** The path of the document of a page. Relative, so that the dashboard also works below a path of a proxy. */
export function documentPath(route: Route): string {
  if (route.page !== 'set') return `api/${route.page}`
  return `api/sets/${encoded(route.namespace)}/${encoded(route.name)}`
}

/** Malformed text cannot be encoded, and must not break the page. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}
