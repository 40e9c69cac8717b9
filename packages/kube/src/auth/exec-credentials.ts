// SPDX-License-Identifier: Apache-2.0

import { execFile } from 'node:child_process'
import { type Credentials, CredentialsError } from '../client/credentials.ts'
import type { Clock } from '../clock/index.ts'
import { ConfigError } from './config-error.ts'
import type { KubeconfigCluster, KubeconfigExec } from './kubeconfig-file.ts'

/** A plugin that takes longer probably waits for input, which a controller cannot give. */
const pluginTimeoutMs = 60_000
const maxPluginOutput = 1024 * 1024
const quotedErrorCharacters = 500

const knownVersions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1']
const clusterConfigExtension = 'client.authentication.k8s.io/exec'

interface ExecStatus {
  readonly expirationTimestamp?: string
  readonly token?: string
  readonly clientCertificateData?: string
  readonly clientKeyData?: string
}

export interface ExecOptions {
  readonly exec: KubeconfigExec
  readonly cluster: KubeconfigCluster
  readonly clock: Clock
  readonly environment: Readonly<Record<string, string | undefined>>
}

/**
 * Credentials from an exec plugin. The plugin runs on first use, on expiry and after the server rejected its
 * credentials, and never interactively. Concurrent requests share one run.
 */
export class ExecCredentials implements Credentials {
  readonly #options: ExecOptions
  readonly #listeners: (() => void)[] = []
  #status: ExecStatus | undefined
  #expiresAt = Number.POSITIVE_INFINITY
  #running: Promise<ExecStatus> | undefined

  constructor(options: ExecOptions) {
    const { apiVersion, command, interactiveMode } = options.exec
    if (!command) throw new ConfigError('a credential plugin of the kubeconfig has no command')
    if (!apiVersion || !knownVersions.includes(apiVersion))
      throw new ConfigError(
        `the credential plugin ${command} has apiVersion ${apiVersion}; supported are ${knownVersions.join(' and ')}`,
      )
    if (interactiveMode === 'Always')
      throw new ConfigError(`the credential plugin ${command} is interactive only, which is not supported`)
    this.#options = options
  }

  headers(): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>> {
    return this.#isFresh() ? headersOf(this.#status!) : this.current().then(headersOf)
  }

  async handleUnauthorized(): Promise<boolean> {
    const before = this.#status
    const after = await this.#run()
    return after.token !== before?.token || after.clientCertificateData !== before?.clientCertificateData
  }

  onCertificateChange(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** Returns the last result of the plugin. Runs the plugin again if that result has expired. */
  async current(): Promise<ExecStatus> {
    return this.#isFresh() ? this.#status! : this.#run()
  }

  #isFresh(): boolean {
    return this.#status !== undefined && this.#options.clock.now() < this.#expiresAt
  }

  #run(): Promise<ExecStatus> {
    this.#running ??= this.#runOnce().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #runOnce(): Promise<ExecStatus> {
    const before = this.#status
    const status = parseOutput(await this.#execute(), this.#options.exec)
    this.#status = status
    this.#expiresAt = status.expirationTimestamp
      ? Date.parse(status.expirationTimestamp)
      : Number.POSITIVE_INFINITY
    if (before && before.clientCertificateData !== status.clientCertificateData)
      for (const listener of this.#listeners) listener()
    return status
  }

  #execute(): Promise<string> {
    const { exec, environment } = this.#options
    const own = Object.fromEntries((exec.env ?? []).map(({ name, value }) => [name, value]))
    const env = { ...environment, ...own, KUBERNETES_EXEC_INFO: JSON.stringify(this.#info()) }
    const limits = { timeout: pluginTimeoutMs, maxBuffer: maxPluginOutput }
    return new Promise((resolve, reject) => {
      const child = execFile(
        exec.command!,
        [...(exec.args ?? [])],
        { env, ...limits },
        (error, stdout, stderr) => {
          if (!error) return resolve(stdout)
          const missing = error.code === 'ENOENT' && exec.installHint ? `\n${exec.installHint}` : ''
          const said = stderr.trim().slice(-quotedErrorCharacters)
          // Does not use error.message, because it repeats the arguments.
          const reason = missing ? 'not found' : error.killed ? 'took too long' : `failed (${error.code})`
          reject(
            new CredentialsError(
              `the credential plugin ${exec.command} ${reason}${said && `: ${said}`}${missing}`,
            ),
          )
        },
      )
      child.stdin?.end()
    })
  }

  #info(): object {
    const { exec, cluster } = this.#options
    const spec: Record<string, unknown> = { interactive: false }
    if (exec.provideClusterInfo)
      spec.cluster = {
        server: cluster.server,
        'tls-server-name': cluster['tls-server-name'],
        'insecure-skip-tls-verify': cluster['insecure-skip-tls-verify'],
        'certificate-authority-data': cluster['certificate-authority-data'],
        'proxy-url': cluster['proxy-url'],
        'disable-compression': cluster['disable-compression'],
        config: cluster.extensions?.find(({ name }) => name === clusterConfigExtension)?.extension,
      }
    return { kind: 'ExecCredential', apiVersion: exec.apiVersion, spec }
  }
}

function parseOutput(stdout: string, exec: KubeconfigExec): ExecStatus {
  const wrong = (what: string) => new CredentialsError(`the credential plugin ${exec.command} ${what}`)
  let output: { kind?: string; apiVersion?: string; status?: ExecStatus } | null
  try {
    output = JSON.parse(stdout)
  } catch {
    throw wrong('did not print JSON')
  }
  if (output?.kind !== 'ExecCredential' || output.apiVersion !== exec.apiVersion)
    throw wrong(`printed ${output?.kind} of ${output?.apiVersion}, not ExecCredential of ${exec.apiVersion}`)
  const { status } = output
  if (!status?.token && !status?.clientCertificateData)
    throw wrong('returned neither a token nor a certificate')
  if (Boolean(status.clientCertificateData) !== Boolean(status.clientKeyData))
    throw wrong('returned a certificate without its key, or a key without its certificate')
  if (status.expirationTimestamp && Number.isNaN(Date.parse(status.expirationTimestamp)))
    throw wrong('returned an invalid expirationTimestamp')
  return status
}

function headersOf(status: ExecStatus): Record<string, string> {
  return status.token ? { authorization: `Bearer ${status.token}` } : {}
}
