// SPDX-License-Identifier: Apache-2.0

import type { KeyPair } from '@grove/kube'
import { stringify } from 'yaml'

/** Renders a self-contained kubeconfig with embedded certificates. */
export function renderKubeconfig(server: string, authority: string, user: KeyPair, name = 'grove'): string {
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, 'certificate-authority-data': base64(authority) } }],
    users: [
      {
        name: `${name}-admin`,
        user: {
          'client-certificate-data': base64(user.cert),
          'client-key-data': base64(user.key),
        },
      },
    ],
    contexts: [{ name, context: { cluster: name, user: `${name}-admin` } }],
    'current-context': name,
  })
}
