// SPDX-License-Identifier: Apache-2.0

// Tells API servers which authorities to trust for our webhooks: `clientConfig.caBundle` of every entry of the named
// configurations. A bundle that somebody else wrote is put back. Nothing but the bundle is changed.
import type { Client } from '../client/client.ts'
import { isConflict, isNotFound } from '../client/error.ts'
import type { KubeObject } from '../client/object.ts'
import { defineResource } from '../client/resource.ts'
import { type Logger, silentLogger } from '../log/index.ts'

export interface WebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly {
    readonly name: string
    readonly clientConfig: { readonly caBundle?: string }
  }[]
}

const resources = {
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

/** One configuration to keep the bundle in. */
export interface InjectionTarget {
  readonly kind: keyof typeof resources
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
    read: ({ kind, name }, signal) => client.find(resources[kind], { name }, { signal }),
    update: async ({ kind }, configuration, signal) => {
      try {
        await client.update(resources[kind], configuration, { signal })
        return 'written'
      } catch (error) {
        if (isConflict(error) || isNotFound(error)) return 'conflict'
        throw error
      }
    },
  }
}

/** Others write these objects rarely; who loses this often is fighting somebody. */
const conflictsTolerated = 5

/** Puts the authorities (PEM) into every target. A target that is missing or going away is skipped. */
export async function injectAuthorities(
  store: InjectionStore,
  targets: readonly InjectionTarget[],
  authorities: string,
  signal: AbortSignal,
  log: Logger = silentLogger,
): Promise<void> {
  const caBundle = Buffer.from(authorities).toString('base64')
  for (const target of targets) await injectOne(store, target, caBundle, signal, log.child({ ...target }))
}

async function injectOne(
  store: InjectionStore,
  target: InjectionTarget,
  caBundle: string,
  signal: AbortSignal,
  log: Logger,
): Promise<void> {
  for (let attempt = 0; attempt <= conflictsTolerated; attempt++) {
    const configuration = await store.read(target, signal)
    if (!configuration) return log.warn('The webhook configuration does not exist; it is skipped')
    if (configuration.metadata?.deletionTimestamp) return
    const { webhooks = [] } = configuration
    if (webhooks.every(webhook => webhook.clientConfig.caBundle === caBundle)) return
    const injected = webhooks.map(webhook => ({
      ...webhook,
      clientConfig: { ...webhook.clientConfig, caBundle },
    }))
    if ((await store.update(target, { ...configuration, webhooks: injected }, signal)) === 'written')
      return log.info('The authorities of the webhook configuration were set')
  }
  throw new Error(`${target.kind} webhook configuration ${target.name} changes faster than it can be updated`)
}
