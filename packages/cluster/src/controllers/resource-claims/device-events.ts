// SPDX-License-Identifier: Apache-2.0

import type { DefaultScheduler } from '../../scheduling/default-scheduler.ts'
import { deviceClasses, resourceClaims, resourceSlices } from '../kinds.ts'
import type { Component, Runtime } from '../runtime.ts'
import { claimsOf } from './claim-names.ts'

/** Makes the scheduler retry pods when their claims exist or devices become free. */
export class DeviceEvents implements Component {
  readonly name = 'device-events'
  readonly #runtime: Runtime
  readonly #scheduler: DefaultScheduler
  readonly #unsubscribe: (() => void)[] = []

  constructor(runtime: Runtime, scheduler: DefaultScheduler) {
    this.#runtime = runtime
    this.#scheduler = scheduler
  }

  start(): void {
    const { caches } = this.#runtime
    const activate = () => this.#scheduler.activate('DynamicResources')
    this.#unsubscribe.push(
      caches.of(resourceSlices).onChange(activate),
      caches.of(deviceClasses).onChange(activate),
      caches.of(resourceClaims).onChange(({ old, new: claim }) => {
        activate()
        if (claim && !old) this.#reconsider(claim.metadata.namespace ?? '', claim.metadata.name)
      }),
    )
  }

  async stop(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe.splice(0)) unsubscribe()
  }

  #reconsider(namespace: string, claim: string): void {
    for (const pod of this.#runtime.caches.pods.list(namespace))
      if (!pod.spec?.nodeName && claimsOf(pod).some(each => each.claim === claim))
        this.#scheduler.reconsider(pod)
  }
}
