// SPDX-License-Identifier: Apache-2.0

import { createAuthority, type KeyPair } from '@grove/kube'

/**
 * The certificates of one cluster. They are created at start, and only the cluster's own kubeconfig trusts
 * them.
 */
export interface ClusterCertificates {
  /** PEM. */
  readonly authority: string
  readonly server: KeyPair
  readonly admin: KeyPair
}

export function makeCertificates(now: number, hosts: readonly string[]): ClusterCertificates {
  const authority = createAuthority('grove-cluster-ca', () => now)
  return {
    authority: authority.pair.cert,
    server: authority.server('kube-apiserver', hosts),
    admin: authority.client({ user: 'kubernetes-admin', groups: ['system:masters'] }),
  }
}
