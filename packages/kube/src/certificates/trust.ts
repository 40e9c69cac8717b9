// SPDX-License-Identifier: Apache-2.0

// Compares the webhook configurations in the cluster with the certificate that this process serves, regardless of
// their writers. Promised: the result is that of the latest watch event, without a request. Not promised: that an API
// server has read the configuration already.
import { WatchCache } from '../cache/index.ts'
import type { Client } from '../client/client.ts'
import type { KubeObject, Stored } from '../client/object.ts'
import type { Resource } from '../client/resource.ts'
import type { Clock } from '../clock/index.ts'
import { type Logger, silentLogger } from '../log/index.ts'
import { trustProblem } from './bundle.ts'
import {
  authoritiesIn,
  type InjectionTarget,
  type WebhookClientConfig,
  type WebhookConfiguration,
  webhookConfigurationResources,
} from './injection.ts'
import type { CertificateSource } from './source.ts'

export interface WebhookTrustOptions {
  readonly client: Client
  readonly targets: readonly InjectionTarget[]
  readonly served: CertificateSource
  readonly clock: Clock
  readonly log?: Logger
}

export class WebhookTrust {
  readonly #options: WebhookTrustOptions
  readonly #watched: readonly {
    readonly target: InjectionTarget
    readonly cache: WatchCache<WebhookConfiguration>
  }[]

  constructor(options: WebhookTrustOptions) {
    const { client, targets, clock, log } = options
    this.#options = options
    this.#watched = targets.map(target => ({
      target,
      cache: watchNamed(
        client,
        webhookConfigurationResources[target.kind],
        { name: target.name },
        { clock, log },
      ),
    }))
  }

  /** Watches until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#watched.map(({ cache }) => cache.run(signal)))
  }

  /** Calls back whenever one of the configurations is created, changed or deleted. */
  onChange(handler: () => void): void {
    for (const { cache } of this.#watched) cache.onChange(handler)
  }

  /** Returns the reason why API servers cannot call the webhooks of this process, or undefined. */
  problem(): string | undefined {
    const served = this.#options.served.current()
    if (!served) return 'certificates are not ready yet'
    for (const { target, cache } of this.#watched) {
      const problem = this.#problemOf(target, cache, served.cert)
      if (problem) return `${webhookConfigurationResources[target.kind].kind} ${target.name} ${problem}`
    }
    return undefined
  }

  #problemOf(
    { name }: InjectionTarget,
    cache: WatchCache<WebhookConfiguration>,
    served: string,
  ): string | undefined {
    if (!cache.hasSynced) return 'has not been read yet'
    const configuration = cache.get({ name })
    if (!configuration) return 'does not exist'
    if (configuration.metadata.deletionTimestamp) return 'is being deleted'
    for (const { name: webhook, clientConfig } of configuration.webhooks ?? []) {
      // API servers then use the authorities of their own machine. No public authority signs the name of a Service.
      if (!clientConfig.caBundle) return `has no caBundle for ${webhook}`
      const authorities = authoritiesIn(clientConfig.caBundle)
      const problem = trustProblem(served, authorities, calledName(clientConfig), this.#options.clock.now())
      if (problem)
        return `has a caBundle for ${webhook} that does not cover the served certificate: ${problem}`
    }
    return undefined
  }
}

/** Returns the name that API servers verify. */
function calledName({ service, url = '' }: WebhookClientConfig): string {
  if (service) return `${service.name}.${service.namespace}.svc`
  return URL.parse(url)?.hostname.replace(/^\[|\]$/g, '') ?? ''
}

export interface NamedObject {
  readonly namespace?: string
  readonly name: string
}

export interface WatchNamedOptions<T extends KubeObject> {
  readonly clock: Clock
  readonly log?: Logger | undefined
  readonly project?: (object: Stored<T>) => Stored<T>
}

/** Watches exactly one object, so that a role needs `list` and `watch` for that name only. */
export function watchNamed<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  { namespace, name }: NamedObject,
  { clock, log = silentLogger, project }: WatchNamedOptions<T>,
): WatchCache<T> {
  return new WatchCache(client, resource, {
    ...(namespace && { namespace }),
    ...(project && { project }),
    fieldSelector: `metadata.name=${name}`,
    clock,
    onFailure: (error, retryInMs) =>
      log.warn('Watch failed, retrying', {
        resource: resource.resource,
        name,
        error,
        retryInMs: Math.round(retryInMs),
      }),
  })
}
