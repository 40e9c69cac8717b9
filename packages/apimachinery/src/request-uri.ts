// SPDX-License-Identifier: Apache-2.0

export interface RequestUri {
  readonly scheme: string
  /** With the port, and with brackets around an IPv6 address. */
  readonly host: string
  readonly hostname: string
  readonly port: string
  /** Percent-encoded. */
  readonly path: string
  readonly query: string
}

/** Parses an absolute URI or an absolute path like Go's `url.ParseRequestURI`; undefined for other texts. */
export function parseRequestUri(text: string): RequestUri | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the expression rejects control characters
  if (text === '' || /[\x00-\x1f\x7f]/.test(text)) return undefined
  if (text === '*') return { scheme: '', host: '', hostname: '', port: '', path: '*', query: '' }
  const schemed = /^([A-Za-z][A-Za-z0-9+.-]*):(.*)$/s.exec(text)
  const scheme = (schemed?.[1] ?? '').toLowerCase()
  const [rest = '', ...queries] = (schemed?.[2] ?? text).split('?')
  const query = queries.join('?')
  if (!rest.startsWith('/')) {
    return scheme === '' ? undefined : { scheme, host: '', hostname: '', port: '', path: '', query }
  }
  const located = scheme !== '' && rest.startsWith('//') ? /^\/\/([^/]*)(.*)$/s.exec(rest) : undefined
  const path = located ? located[2]! : rest
  const authority = parseAuthority(located?.[1] ?? '')
  if (authority === undefined || !validEscapes(path)) return undefined
  return { scheme, ...authority, path: encodePath(path), query }
}

function parseAuthority(text: string): Pick<RequestUri, 'host' | 'hostname' | 'port'> | undefined {
  const at = text.lastIndexOf('@')
  if (at >= 0 && !/^[\w\-.~!$&'()*+,;=:%@]*$/.test(text.slice(0, at))) return undefined
  const host = text.slice(at + 1)
  const match = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/.exec(host)
  if (!match || !validEscapes(host)) return undefined
  const hostname = match[1]!
  const bracketed = hostname.startsWith('[')
  if (!bracketed && (/[ \\^`{}|#[\]]/.test(hostname) || !validHostEscapes(hostname))) return undefined
  return { host, hostname: bracketed ? hostname.slice(1, -1) : hostname, port: match[2] ?? '' }
}

function validEscapes(text: string): boolean {
  return !/%(?![0-9A-Fa-f]{2})/.test(text)
}

/** A host may only escape characters that are not ASCII. */
function validHostEscapes(host: string): boolean {
  return !/%[0-7]/.test(host)
}

function encodePath(path: string): string {
  return path.replace(/[^A-Za-z0-9\-._~!$&'()*+,;=:@/%]/gu, percentEncoded)
}

function percentEncoded(char: string): string {
  return [...new TextEncoder().encode(char)]
    .map(byte => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
    .join('')
}
