// SPDX-License-Identifier: Apache-2.0

import { isIP } from 'node:net'

/**
 * Headers of every response. The page loads nothing from other servers and runs no script except its own file. HTML in
 * a name or message of the cluster therefore stays text.
 */
export const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
}

/**
 * Reports whether a request names this server. A foreign web page can let its own host name resolve to a loopback
 * address, and then read responses as same-origin. An address or localhost cannot be taken over in this way.
 */
export function isAllowedHost(header: string | undefined, allowed: ReadonlySet<string>): boolean {
  const [, name = ''] = /^(\[[^\]]*\]|[^:]*)(?::\d{1,5})?$/.exec(header ?? '') ?? []
  const host = name.replace(/^\[|\]$/g, '').toLowerCase()
  return isIP(host) !== 0 || host === 'localhost' || host.endsWith('.localhost') || allowed.has(host)
}
