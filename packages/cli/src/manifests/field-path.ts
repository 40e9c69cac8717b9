// SPDX-License-Identifier: Apache-2.0

// Paths such as `spec.template.cliques[2].spec.podSpec.nodeSelector.example.com/zone`. A map key may contain dots, so a
// path can only be parsed together with its object.

/** The first key of a path, and the rest of the path. The longest matching key wins. */
export function firstKey(
  keys: Iterable<string>,
  path: string,
): { readonly key: string; readonly rest: string } | undefined {
  let found: { key: string; rest: string } | undefined
  for (const key of keys)
    for (const written of [key, `[${key}]`]) {
      if (!path.startsWith(written) || key.length <= (found?.key.length ?? -1)) continue
      const rest = path.slice(written.length)
      if (rest === '' || rest.startsWith('.') || rest.startsWith('['))
        found = { key, rest: rest.replace(/^\./, '') }
    }
  return found
}

/** The list index at the start of a path, and the rest of the path. */
export function firstIndex(path: string): { readonly index: number; readonly rest: string } | undefined {
  const [whole, index] = /^\[(\d{1,9})\]\.?/.exec(path) ?? []
  return whole === undefined ? undefined : { index: Number(index), rest: path.slice(whole.length) }
}

/** The value at a path, or undefined. */
export function valueAt(object: unknown, path: string): unknown {
  if (path === '') return object
  if (typeof object !== 'object' || object === null) return undefined
  if (Array.isArray(object)) {
    const step = firstIndex(path)
    return step && valueAt(object[step.index], step.rest)
  }
  const step = firstKey(Object.keys(object), path)
  return step && valueAt((object as Record<string, unknown>)[step.key], step.rest)
}
