// SPDX-License-Identifier: Apache-2.0

import type { ClientIdentity } from '@grove/kube'

export const administrator: ClientIdentity = { user: 'grove-test-admin', groups: ['system:masters'] }

/** By what a ServiceAccount is known, for a certificate in place of its token. */
export function serviceAccount(namespace: string, name: string): ClientIdentity {
  return {
    user: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
  }
}
