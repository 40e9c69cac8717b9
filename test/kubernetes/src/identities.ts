// SPDX-License-Identifier: Apache-2.0

import type { ClientIdentity } from '@grove/kube'

export const administrator: ClientIdentity = { user: 'grove-test-admin', groups: ['system:masters'] }

/** Returns the user name and groups of a ServiceAccount, for a client certificate instead of its token. */
export function serviceAccount(namespace: string, name: string): ClientIdentity {
  return {
    user: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
  }
}
