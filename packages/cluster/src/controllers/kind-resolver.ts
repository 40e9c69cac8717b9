// SPDX-License-Identifier: Apache-2.0

import { apiVersionOf, type Client, type Clock, type DiscoveredResource, discover } from '@grove/kube'

/** The minimum time between lookups of a kind that is not served. */
const askAgainMs = 5_000

/** Finds the resource of a kind by discovery. */
export class KindResolver {
  readonly #client: Client
  readonly #clock: Clock
  #resources: Promise<readonly DiscoveredResource[]> | undefined
  #askedAt = Number.NEGATIVE_INFINITY

  constructor(client: Client, clock: Clock) {
    this.#client = client
    this.#clock = clock
  }

  async resolve(apiVersion: string, kind: string): Promise<DiscoveredResource | undefined> {
    const found = await this.#find(apiVersion, kind)
    if (found || this.#clock.monotonic() - this.#askedAt < askAgainMs) return found
    this.#resources = undefined
    return this.#find(apiVersion, kind)
  }

  async #find(apiVersion: string, kind: string): Promise<DiscoveredResource | undefined> {
    if (!this.#resources) {
      this.#askedAt = this.#clock.monotonic()
      this.#resources = discover(this.#client)
      this.#resources.catch(() => {
        this.#resources = undefined
      })
    }
    const served = await this.#resources
    const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
    return (
      served.find(resource => resource.kind === kind && apiVersionOf(resource) === apiVersion) ??
      served.find(resource => resource.kind === kind && resource.group === group)
    )
  }
}
