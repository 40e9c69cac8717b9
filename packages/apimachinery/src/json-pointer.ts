// SPDX-License-Identifier: Apache-2.0

/**
 * Parses `/spec/a~1b` to `['spec', 'a/b']` (RFC 6901). Undefined for an invalid pointer. A `~` without an
 * escape stands for itself, as in the API server.
 */
export function parsePointer(text: string): string[] | undefined {
  if (text === '') return []
  if (!text.startsWith('/')) return undefined
  return text
    .slice(1)
    .split('/')
    .map(token => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}
