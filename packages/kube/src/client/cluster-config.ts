// SPDX-License-Identifier: Apache-2.0

import type { Credentials } from './credentials.ts'

/** What a TLS connection needs. A source that has nothing new returns the very same object again. */
export interface TlsMaterial {
  /** PEM of the certificate authorities that may vouch for the server; the machine's own when undefined. */
  readonly ca?: string
  /** PEM of our certificate and key, for servers that authenticate by it. */
  readonly certificate?: string
  readonly key?: string
  /** The name that the server's certificate must carry, when it is not the host of the URL. */
  readonly serverName?: string
  readonly insecureSkipVerify?: boolean
}

/** Where an API server is and how to be let in; made by `loadConfig`, `loadKubeconfig`, `inClusterConfig` or by hand. */
export interface ClusterConfig {
  /** `https://host:port`, perhaps with a path. */
  readonly server: string
  /** The namespace of the context; `default` unless told. */
  readonly namespace: string
  /** Asked for every new connection, so that renewed certificates are picked up. */
  tls(): TlsMaterial | Promise<TlsMaterial>
  readonly credentials?: Credentials
  /** `http`, `https` or `socks5` URL through which connections go. */
  readonly proxy?: string
  /** Registers who wants to know that our certificate is another one, so that old connections are given up. */
  onCertificateChange?(listener: () => void): void
}
