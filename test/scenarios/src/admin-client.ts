// SPDX-License-Identifier: Apache-2.0

import { type Client, type ClientOptions, createClient } from '@grove/kube'
import type { Kubernetes } from '@grove/test-kubernetes'

/** A client of the real cluster with the rights of an administrator. */
export function adminClient(kubernetes: Kubernetes, options: ClientOptions = {}): Client {
  const { server, ca, admin } = kubernetes
  return createClient(
    { server, namespace: 'default', tls: () => ({ ca, certificate: admin.cert, key: admin.key }) },
    options,
  )
}
