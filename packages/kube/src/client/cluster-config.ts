// SPDX-License-Identifier: Apache-2.0

import type { Credentials } from './credentials.ts'

/** The material of a TLS connection. A source without changes returns the same object again. */
export interface TlsMaterial {
  /** PEM of the certificate authorities for the server. Default: those of the machine. */
  readonly ca?: string
  /** PEM of the client certificate and key, for servers that authenticate by certificate. */
  readonly certificate?: string
  readonly key?: string
  /** The expected name in the server's certificate, if it differs from the host of the URL. */
  readonly serverName?: string
  readonly insecureSkipVerify?: boolean
}

/**
 * Address and credentials of an API server; created by `loadConfig`, `loadKubeconfig`, `inClusterConfig` or by hand.
 */
export interface ClusterConfig {
  /** `https://host:port`, optionally with a path. */
  readonly server: string
  /** The namespace of the context. Default: `default`. */
  readonly namespace: string
  /** Called for every new connection, so that renewed certificates are used. */
  tls(): TlsMaterial | Promise<TlsMaterial>
  readonly credentials?: Credentials
  /** `http`, `https` or `socks5` URL of a proxy. */
  readonly proxy?: string
  /** Registers a listener for changes of the client certificate, so that old connections can be closed. */
  onCertificateChange?(listener: () => void): void
}
