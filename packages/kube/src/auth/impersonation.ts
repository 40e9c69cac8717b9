// SPDX-License-Identifier: Apache-2.0

import type { Credentials, HeaderValues } from '../client/credentials.ts'
import type { KubeconfigUser } from './kubeconfig-file.ts'

/** Adds the impersonation headers of a kubeconfig user to its credentials. */
export function impersonating(user: KubeconfigUser, credentials: Credentials): Credentials {
  if (!user.as) return credentials
  const other: Record<string, string | readonly string[]> = { 'impersonate-user': user.as }
  if (user['as-uid']) other['impersonate-uid'] = user['as-uid']
  if (user['as-groups']?.length) other['impersonate-group'] = user['as-groups']
  for (const [key, values] of Object.entries(user['as-user-extra'] ?? {}))
    other[`impersonate-extra-${encodeURIComponent(key).toLowerCase()}`] = values
  const join = (own: HeaderValues): HeaderValues => ({ ...own, ...other })
  return {
    headers() {
      const own = credentials.headers()
      return own instanceof Promise ? own.then(join) : join(own)
    },
    handleUnauthorized: () => credentials.handleUnauthorized(),
  }
}
