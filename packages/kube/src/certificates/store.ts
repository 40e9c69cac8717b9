// SPDX-License-Identifier: Apache-2.0

import type { Client } from '../client/client.ts'
import { isAlreadyExists, isConflict, isNotFound } from '../client/error.ts'
import type { KubeObject, Stored } from '../client/object.ts'
import { defineResource } from '../client/resource.ts'
import type { Clock } from '../clock/index.ts'
import type { Logger } from '../log/index.ts'
import { type CertificateBundle, emptyBundle } from './bundle.ts'
import { watchNamed } from './trust.ts'

/** Storage of one bundle for several processes. A write succeeds only if nothing has changed since the read. */
export interface CertificateStore {
  read(signal: AbortSignal): Promise<StoredBundle | undefined>
  create(bundle: CertificateBundle, signal: AbortSignal): Promise<'written' | 'conflict'>
  replace(
    stored: StoredBundle,
    bundle: CertificateBundle,
    signal: AbortSignal,
  ): Promise<'written' | 'conflict'>
}

export interface StoredBundle {
  readonly bundle: CertificateBundle
  /** The object as it was read, for the optimistic lock. */
  readonly origin: unknown
  /** Another program issues and renews the certificate. */
  readonly isIssuedByOthers: boolean
}

/** cert-manager sets it on the Secrets that it writes. */
const issuedByCertManager = 'cert-manager.io/certificate-name'

interface Secret extends KubeObject {
  readonly type?: string
  readonly data?: Readonly<Record<string, string>>
}

const secrets = defineResource<Secret>({
  group: '',
  version: 'v1',
  resource: 'secrets',
  kind: 'Secret',
  namespaced: true,
})

export interface SecretOptions {
  readonly namespace: string
  readonly name: string
  /** Labels of a Secret that the store creates. Labels of an existing one are not changed. */
  readonly labels?: Readonly<Record<string, string>>
}

/** Calls back when the Secret is created, changed or deleted. Does not keep its keys in memory. */
export function watchSecret(
  client: Client,
  { namespace, name }: SecretOptions,
  options: { readonly clock: Clock; readonly log?: Logger },
  changed: () => void,
): { run(signal: AbortSignal): Promise<void> } {
  const withoutKeys = ({ metadata }: Stored<Secret>): Stored<Secret> => ({ metadata })
  const cache = watchNamed(client, secrets, { namespace, name }, { ...options, project: withoutKeys })
  cache.onChange(changed)
  return cache
}

/** A bundle in a Secret of type kubernetes.io/tls: `tls.crt`, `tls.key`, `ca.crt`, `ca.key`. */
export function secretStore(
  client: Pick<Client, 'find' | 'create' | 'update'>,
  { namespace, name, labels }: SecretOptions,
): CertificateStore {
  return {
    read: async signal => {
      const secret = await client.find(secrets, { namespace, name }, { signal })
      if (!secret) return undefined
      const isIssuedByOthers = Boolean(secret.metadata.annotations?.[issuedByCertManager])
      return { bundle: decode(secret), origin: secret, isIssuedByOthers }
    },
    create: (bundle, signal) => {
      const metadata = { namespace, name, ...(labels && { labels }) }
      const secret = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata,
        type: 'kubernetes.io/tls',
        data: encode(bundle),
      }
      return orConflict(client.create(secrets, secret, { signal }))
    },
    replace: ({ origin }, bundle, signal) => {
      const secret = origin as Secret
      const data = { ...secret.data, ...encode(bundle) }
      const { [issuedByCertManager]: _, ...annotations } = secret.metadata?.annotations ?? {}
      const metadata = { ...secret.metadata, annotations }
      return orConflict(client.update(secrets, { ...secret, metadata, data }, { signal }))
    },
  }
}

async function orConflict(write: Promise<unknown>): Promise<'written' | 'conflict'> {
  try {
    await write
    return 'written'
  } catch (error) {
    if (isConflict(error) || isAlreadyExists(error) || isNotFound(error)) return 'conflict'
    throw error
  }
}

function encode(bundle: CertificateBundle): Record<string, string> {
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  return {
    'tls.crt': base64(bundle.serverCert),
    'tls.key': base64(bundle.serverKey),
    'ca.crt': base64(bundle.authorityCerts),
    'ca.key': base64(bundle.authorityKey),
  }
}

function decode({ data = {} }: Secret): CertificateBundle {
  const text = (key: string) => Buffer.from(data[key] ?? '', 'base64').toString('utf8')
  return {
    ...emptyBundle,
    serverCert: text('tls.crt'),
    serverKey: text('tls.key'),
    authorityCerts: text('ca.crt'),
    authorityKey: text('ca.key'),
  }
}
