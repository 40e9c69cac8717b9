// SPDX-License-Identifier: Apache-2.0

/**
 * `/spec/a~1b` as `['spec', 'a/b']` (RFC 6901); undefined if the text is no pointer. A `~` that starts no escape stands
 * for itself, because the API server has it so.
 */
export function parsePointer(text: string): string[] | undefined {
  if (text === '') return []
  if (!text.startsWith('/')) return undefined
  return text
    .slice(1)
    .split('/')
    .map(token => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}

export function formatPointer(tokens: readonly (string | number)[]): string {
  return tokens.map(token => `/${String(token).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}
