// SPDX-License-Identifier: Apache-2.0

import { Controller, isAlreadyExists, isKubeError, isNotFound, type Stored } from '@grove/kube'
import { changesOf, ownChangesOf, refOf } from '../changes.ts'
import {
  type ConfigMap,
  configMaps,
  type Namespace,
  namespaces,
  type Secret,
  type ServiceAccount,
  secrets,
  serviceAccounts,
} from '../kinds.ts'
import type { Component, Runtime } from '../runtime.ts'

/** Issues service account tokens. Tests use a fake. */
export interface TokenIssuer {
  /** Issues a token without expiration, for a Secret of type kubernetes.io/service-account-token. */
  issue(account: Stored<ServiceAccount>, secret: Stored<Secret>): Promise<string>
}

export interface ServiceAccountOptions {
  readonly tokenIssuer?: TokenIssuer
  /** The CA certificate (PEM) that every namespace gets as ConfigMap `kube-root-ca.crt`. */
  readonly caCertificate?: string
}

const defaultAccount = 'default'
const rootConfigMap = 'kube-root-ca.crt'
const tokenType = 'kubernetes.io/service-account-token'
const accountAnnotation = 'kubernetes.io/service-account.name'
const accountUidAnnotation = 'kubernetes.io/service-account.uid'
const descriptionAnnotation = 'kubernetes.io/description'
const description =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.'
const workers = 4

/**
 * Creates the default service account and the CA certificate ConfigMap of each namespace, and fills token
 * Secrets.
 */
export class ServiceAccountController implements Component {
  readonly name = 'service-account-controller'
  readonly #runtime: Runtime
  readonly #options: ServiceAccountOptions
  readonly #namespaces: Controller
  readonly #tokens: Controller

  constructor(runtime: Runtime, options: ServiceAccountOptions = {}) {
    const { caches, clock, random, log } = runtime
    this.#runtime = runtime
    this.#options = options
    const shared = { clock, random, log, workers }
    this.#namespaces = new Controller({
      ...shared,
      name: this.name,
      sources: [
        ownChangesOf(caches.of(namespaces)),
        changesOf(caches.of(serviceAccounts), ({ type, old }) =>
          type === 'delete' && old.metadata.name === defaultAccount ? [old.metadata.namespace ?? ''] : [],
        ),
        changesOf(caches.of(configMaps), ({ old, new: map }) =>
          (old ?? map)?.metadata.name === rootConfigMap ? [(old ?? map)?.metadata.namespace ?? ''] : [],
        ),
      ],
      reconcile: name => this.#ensureDefaults(name),
    })
    this.#tokens = new Controller({
      ...shared,
      name: 'service-account-token-controller',
      sources: [
        changesOf(caches.of(secrets), ({ new: secret }) =>
          secret?.type === tokenType ? [keyFor(secret)] : [],
        ),
        changesOf(caches.of(serviceAccounts), ({ type, old, new: account }) =>
          type === 'update' ? [] : this.#tokensOf((account ?? old)!),
        ),
      ],
      reconcile: key => this.#fill(key),
    })
  }

  async start(signal: AbortSignal): Promise<void> {
    await this.#namespaces.start(signal)
    await this.#tokens.start(signal)
  }

  async stop(): Promise<void> {
    await Promise.all([this.#namespaces.stop(), this.#tokens.stop()])
  }

  async #ensureDefaults(namespace: string): Promise<void> {
    const { caches, client } = this.#runtime
    const stored = caches.of(namespaces).get({ name: namespace })
    if (!stored || !isActive(stored)) return
    try {
      if (!caches.of(serviceAccounts).get({ namespace, name: defaultAccount }))
        await client.create(serviceAccounts, { metadata: { namespace, name: defaultAccount } })
      await this.#publishCertificate(namespace)
    } catch (error) {
      // The API server rejects the request if the namespace is terminating.
      if (!isAlreadyExists(error) && !isKubeError(error, 'NotFound', 'Forbidden')) throw error
    }
  }

  async #publishCertificate(namespace: string): Promise<void> {
    const { caches, client } = this.#runtime
    const certificate = this.#options.caCertificate
    if (certificate === undefined) return
    const ref = { namespace, name: rootConfigMap }
    const known = caches.of(configMaps).get(ref)
    const data = { 'ca.crt': certificate }
    const annotations = { [descriptionAnnotation]: description }
    const wanted: ConfigMap = { metadata: { ...ref, annotations }, data }
    if (!known) await client.create(configMaps, wanted)
    else if (known.data?.['ca.crt'] !== certificate || Object.keys(known.data).length !== 1)
      await client.update(configMaps, { ...known, data })
  }

  #tokensOf({ metadata }: Stored<ServiceAccount>): string[] {
    return this.#runtime.caches
      .of(secrets)
      .list(metadata.namespace)
      .filter(
        ({ type, metadata: { annotations } }) =>
          type === tokenType && annotations?.[accountAnnotation] === metadata.name,
      )
      .map(keyFor)
  }

  async #fill(key: string): Promise<void> {
    const { caches, client } = this.#runtime
    const secret = caches.of(secrets).get(refOf(key))
    if (!secret || secret.metadata.deletionTimestamp) return
    const { namespace = '', annotations = {} } = secret.metadata
    const name = annotations[accountAnnotation] ?? ''
    const account = await this.#accountOf({ namespace, name }, annotations[accountUidAnnotation])
    try {
      if (!account) {
        const { uid, resourceVersion } = secret.metadata
        await client.delete(secrets, secret.metadata, { preconditions: { uid, resourceVersion } })
      } else await this.#write(secret, account)
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  /** Reads from the API server before a Secret is deleted, because the cache may be behind. */
  async #accountOf(ref: { namespace: string; name: string }, uid: string | undefined) {
    if (!ref.name) return undefined
    const cached = this.#runtime.caches.of(serviceAccounts).get(ref)
    const account = cached ?? (await this.#runtime.client.find(serviceAccounts, ref))
    return account && (uid === undefined || uid === account.metadata.uid) ? account : undefined
  }

  async #write(secret: Stored<Secret>, account: Stored<ServiceAccount>): Promise<void> {
    const { tokenIssuer, caCertificate } = this.#options
    if (!tokenIssuer) return
    const has = (field: string) => secret.data?.[field] !== undefined
    const isAnnotated = secret.metadata.annotations?.[accountUidAnnotation] === account.metadata.uid
    if (has('token') && has('namespace') && isAnnotated && (caCertificate === undefined || has('ca.crt')))
      return
    const encoded = (text: string) => Buffer.from(text).toString('base64')
    const data = {
      ...(caCertificate !== undefined && { 'ca.crt': encoded(caCertificate) }),
      namespace: encoded(secret.metadata.namespace ?? ''),
      ...(!has('token') && { token: encoded(await tokenIssuer.issue(account, secret)) }),
    }
    const { uid, resourceVersion } = secret.metadata
    const annotations = { [accountUidAnnotation]: account.metadata.uid }
    await this.#runtime.client.patch(secrets, secret.metadata, {
      merge: { metadata: { uid, resourceVersion, annotations }, data },
    })
  }
}

function keyFor({ metadata: { namespace, name } }: Stored<Secret>): string {
  return `${namespace}/${name}`
}

function isActive({ metadata, status }: Stored<Namespace>): boolean {
  return !metadata.deletionTimestamp && status?.phase !== 'Terminating'
}
