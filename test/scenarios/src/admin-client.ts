// SPDX-License-Identifier: Apache-2.0

import { type Client, type ClientIdentity, type ClientOptions, createClient, type KeyPair } from '@grove/kube'
import type { Kubernetes } from '@grove/test-kubernetes'

/** A client of the real cluster with the rights of an administrator. */
export function adminClient(kubernetes: Kubernetes, options: ClientOptions = {}): Client {
  return clientWith(kubernetes, kubernetes.admin, options)
}

/** A client of the real cluster with the rights of this identity and no others. */
export function identityClient(
  kubernetes: Kubernetes,
  identity: ClientIdentity,
  options: ClientOptions = {},
): Client {
  return clientWith(kubernetes, kubernetes.clientCertificate(identity), options)
}

function clientWith({ server, ca }: Kubernetes, { cert, key }: KeyPair, options: ClientOptions): Client {
  return createClient({ server, namespace: 'default', tls: () => ({ ca, certificate: cert, key }) }, options)
}
