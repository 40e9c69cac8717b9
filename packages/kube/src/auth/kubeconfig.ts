// SPDX-License-Identifier: Apache-2.0

import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { ClusterConfig, TlsMaterial } from '../client/cluster-config.ts'
import type { Credentials } from '../client/credentials.ts'
import { type Clock, systemClock } from '../clock/index.ts'
import { ConfigError } from './config-error.ts'
import { proxyFor } from './environment-proxy.ts'
import { ExecCredentials } from './exec-credentials.ts'
import { impersonating } from './impersonation.ts'
import {
  type Kubeconfig,
  type KubeconfigCluster,
  type KubeconfigUser,
  mergeKubeconfigs,
  readKubeconfigFile,
} from './kubeconfig-file.ts'
import { type PemSource, TlsFiles } from './tls-files.ts'
import { basicAuthorization, fixedCredentials, tokenFileCredentials } from './token-credentials.ts'

export interface KubeconfigOptions {
  /** Uses only this file, which must exist. Default: the files of KUBECONFIG, or ~/.kube/config. */
  readonly path?: string
  /** The context to use instead of the current one. */
  readonly context?: string
  readonly environment?: Readonly<Record<string, string | undefined>>
  readonly clock?: Clock
}

/** Returns the cluster of a kubeconfig context. Throws a ConfigError that names the faulty file or entry. */
export function loadKubeconfig(options: KubeconfigOptions = {}): ClusterConfig {
  return configOfContext(readKubeconfig(options), options)
}

/** Reads and merges all files that apply. */
function readKubeconfig(options: KubeconfigOptions = {}): Kubeconfig {
  if (options.path !== undefined) return readKubeconfigFile(options.path, false)!
  const environment = options.environment ?? process.env
  const paths = kubeconfigPaths(environment)
  const files = paths.map(path => readKubeconfigFile(path, true)).filter(file => file !== undefined)
  if (files.length === 0 && environment.KUBECONFIG) throw new ConfigError(missingText(paths))
  return mergeKubeconfigs(files)
}

/** A common cause is a terminal whose KUBECONFIG names a cluster that was deleted since. */
function missingText(paths: readonly string[]): string {
  const missing =
    paths.length === 1 ? `${paths[0]}, which does not exist` : `${paths.join(', ')}, none of which exists`
  return `KUBECONFIG names ${missing}; unset it or set it to an existing file`
}

export function kubeconfigPaths(environment: Readonly<Record<string, string | undefined>>): string[] {
  const listed = (environment.KUBECONFIG ?? '').split(delimiter).filter(path => path !== '')
  return listed.length > 0 ? [...new Set(listed)] : [join(environment.HOME || homedir(), '.kube', 'config')]
}

/** Returns the configuration of one context of a kubeconfig that is already read. */
export function configOfContext(kubeconfig: Kubeconfig, options: KubeconfigOptions = {}): ClusterConfig {
  const environment = options.environment ?? process.env
  const clock = options.clock ?? systemClock
  const name = options.context ?? kubeconfig.currentContext
  if (!name)
    throw new ConfigError('found no kubeconfig with a current context; set KUBECONFIG or pass a file')
  const context = kubeconfig.contexts.get(name)
  if (!context) throw new ConfigError(`the kubeconfig has no context ${JSON.stringify(name)}`)
  const cluster = kubeconfig.clusters.get(context.cluster ?? '')
  if (!cluster?.server)
    throw new ConfigError(
      `context ${name} names the cluster ${JSON.stringify(context.cluster)}, which has no server`,
    )
  const user = context.user ? kubeconfig.users.get(context.user) : {}
  if (!user)
    throw new ConfigError(
      `context ${name} names the user ${JSON.stringify(context.user)}, which does not exist`,
    )

  const server = serverOf(cluster.server)
  const tls = tlsOf(cluster, user, clock)
  const exec = user.exec && new ExecCredentials({ exec: user.exec, cluster, clock, environment })
  return {
    server,
    namespace: context.namespace || 'default',
    tls: exec ? execTls(tls, exec) : () => tls.current(),
    credentials: impersonating(user, exec ?? credentialsOf(user, clock) ?? certificateCredentials(tls)),
    proxy: cluster['proxy-url'] || proxyFor(server, environment),
    onCertificateChange(listener) {
      tls.onCertificateChange(listener)
      exec?.onCertificateChange(listener)
    },
  }
}

function serverOf(server: string): string {
  const url = server.includes('://') ? server : `https://${server}`
  if (!URL.canParse(url)) throw new ConfigError(`the server ${JSON.stringify(server)} is not a URL`)
  return url
}

function tlsOf(cluster: KubeconfigCluster, user: KubeconfigUser, clock: Clock): TlsFiles {
  const insecureSkipVerify = cluster['insecure-skip-tls-verify'] ?? false
  const ca = pem(cluster['certificate-authority-data'], cluster['certificate-authority'])
  if (insecureSkipVerify && ca)
    throw new ConfigError('a cluster has both a certificate authority and insecure-skip-tls-verify')
  const certificate = pem(user['client-certificate-data'], user['client-certificate'])
  const key = pem(user['client-key-data'], user['client-key'])
  if (Boolean(certificate) !== Boolean(key))
    throw new ConfigError('a user has a client certificate without its key, or a key without its certificate')
  return new TlsFiles(
    { ca, certificate, key, serverName: cluster['tls-server-name'] || undefined, insecureSkipVerify },
    clock,
  )
}

function pem(data: string | undefined, file: string | undefined): PemSource | undefined {
  if (data) return { text: Buffer.from(data, 'base64').toString('utf8') }
  return file ? { file } : undefined
}

function credentialsOf(user: KubeconfigUser, clock: Clock): Credentials | undefined {
  if (user['auth-provider'])
    throw new ConfigError(
      `the auth-provider ${user['auth-provider'].name} was removed from Kubernetes; use its exec plugin`,
    )
  if (user.tokenFile) return tokenFileCredentials(user.tokenFile, clock, user.token)
  if (user.token) return fixedCredentials(`Bearer ${user.token}`)
  if (user.username || user.password)
    return fixedCredentials(basicAuthorization(user.username ?? '', user.password ?? ''))
  return undefined
}

/** Sends no headers. Repeats a request after a 401 if the certificate files were renewed meanwhile. */
function certificateCredentials(tls: TlsFiles): Credentials {
  return { headers: () => ({}), handleUnauthorized: async () => tls.refreshCertificate() }
}

function execTls(files: TlsFiles, exec: ExecCredentials): () => Promise<TlsMaterial> {
  let base: TlsMaterial | undefined
  let certificate: string | undefined
  let material: TlsMaterial | undefined
  return async () => {
    const status = await exec.current()
    const current = files.current()
    if (!material || base !== current || certificate !== status.clientCertificateData) {
      base = current
      certificate = status.clientCertificateData
      material = certificate ? { ...current, certificate, key: status.clientKeyData } : current
    }
    return material
  }
}
