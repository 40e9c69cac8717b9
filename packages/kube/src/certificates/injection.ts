// SPDX-License-Identifier: Apache-2.0

// Writes the trusted authorities into the webhook configurations: `clientConfig.caBundle` of every entry of the named
// objects. Restores them if another client overwrote the bundle. The caller decides which other certificates of a
// bundle stay in it. Changes only the bundle.
import type { X509Certificate } from 'node:crypto'
import type { Client } from '../client/client.ts'
import { isConflict, isNotFound } from '../client/error.ts'
import type { KubeObject } from '../client/object.ts'
import { defineResource } from '../client/resource.ts'
import { type Logger, silentLogger } from '../log/index.ts'
import { readCertificates, writeCertificates } from './bundle.ts'

export interface WebhookClientConfig {
  readonly caBundle?: string
  readonly service?: { readonly namespace: string; readonly name: string }
  readonly url?: string
}

export interface WebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly { readonly name: string; readonly clientConfig: WebhookClientConfig }[]
}

export const webhookConfigurationResources = {
  mutating: defineResource<WebhookConfiguration>({
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    resource: 'mutatingwebhookconfigurations',
    kind: 'MutatingWebhookConfiguration',
    namespaced: false,
  }),
  validating: defineResource<WebhookConfiguration>({
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    resource: 'validatingwebhookconfigurations',
    kind: 'ValidatingWebhookConfiguration',
    namespaced: false,
  }),
}

/** One webhook configuration that receives the bundle. */
export interface InjectionTarget {
  readonly kind: keyof typeof webhookConfigurationResources
  readonly name: string
}

export interface InjectionStore {
  read(target: InjectionTarget, signal: AbortSignal): Promise<WebhookConfiguration | undefined>
  update(
    target: InjectionTarget,
    configuration: WebhookConfiguration,
    signal: AbortSignal,
  ): Promise<'written' | 'conflict'>
}

export function injectionStore(client: Pick<Client, 'find' | 'update'>): InjectionStore {
  return {
    read: ({ kind, name }, signal) => client.find(webhookConfigurationResources[kind], { name }, { signal }),
    update: async ({ kind }, configuration, signal) => {
      try {
        await client.update(webhookConfigurationResources[kind], configuration, { signal })
        return 'written'
      } catch (error) {
        if (isConflict(error) || isNotFound(error)) return 'conflict'
        throw error
      }
    },
  }
}

/** Other clients rarely write these objects. More conflicts mean that another controller writes the same field. */
const conflictsTolerated = 5

export interface Injection {
  /** PEM. */
  readonly authorities: string
  /** Returns those certificates of a present bundle that stay in it after the authorities. */
  readonly kept: (present: readonly X509Certificate[]) => readonly X509Certificate[]
}

/** Writes the authorities into every target that exists. Returns the targets that are missing or terminating. */
export async function injectAuthorities(
  store: InjectionStore,
  targets: readonly InjectionTarget[],
  injection: Injection,
  signal: AbortSignal,
  log: Logger = silentLogger,
): Promise<InjectionTarget[]> {
  const missing: InjectionTarget[] = []
  for (const target of targets) {
    const result = await injectOne(store, target, injection, signal, log.child({ ...target }))
    if (result === 'missing') missing.push(target)
  }
  return missing
}

/** Returns the authorities that the targets publish now, for each entry. */
export async function publishedAuthorities(
  store: InjectionStore,
  targets: readonly InjectionTarget[],
  signal: AbortSignal,
): Promise<X509Certificate[]> {
  const found: X509Certificate[] = []
  for (const target of targets)
    for (const { clientConfig } of (await store.read(target, signal))?.webhooks ?? [])
      found.push(...authoritiesIn(clientConfig.caBundle))
  return found
}

/** Reads the certificates of a `caBundle`, which is base64 of PEM. */
export function authoritiesIn(caBundle: string | undefined): X509Certificate[] {
  return readCertificates(Buffer.from(caBundle ?? '', 'base64').toString('utf8'))
}

async function injectOne(
  store: InjectionStore,
  target: InjectionTarget,
  { authorities, kept }: Injection,
  signal: AbortSignal,
  log: Logger,
): Promise<'injected' | 'missing'> {
  for (let attempt = 0; attempt <= conflictsTolerated; attempt++) {
    const configuration = await store.read(target, signal)
    if (!configuration || configuration.metadata?.deletionTimestamp) return 'missing'
    const { webhooks = [] } = configuration
    const injected = webhooks.map(webhook => {
      const others = kept(authoritiesIn(webhook.clientConfig.caBundle))
      const caBundle = Buffer.from(authorities + writeCertificates(others)).toString('base64')
      return { ...webhook, clientConfig: { ...webhook.clientConfig, caBundle } }
    })
    const isCurrent = webhooks.every(
      ({ clientConfig }, index) => clientConfig.caBundle === injected[index]?.clientConfig.caBundle,
    )
    if (isCurrent) return 'injected'
    if ((await store.update(target, { ...configuration, webhooks: injected }, signal)) === 'written') {
      log.info('Updated caBundle of the webhook configuration')
      return 'injected'
    }
  }
  throw new Error(`${target.kind} webhook configuration ${target.name} changes too often to be updated`)
}
