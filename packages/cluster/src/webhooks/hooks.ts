// SPDX-License-Identifier: Apache-2.0

import { storages } from '../registry/storages.ts'
import type { AdmissionregistrationMutatingWebhook } from '../schema/types.generated.ts'
import type { Store } from '../store/index.ts'

/**
 * One webhook of one configuration. Validating webhooks have no reinvocation policy. The other fields are the
 * same.
 */
export type Hook = AdmissionregistrationMutatingWebhook

/** The webhooks of all configurations of one kind, sorted by name. Cached until a configuration changes. */
export class Hooks {
  readonly #store: Store
  readonly #storage: typeof storages.mutatingWebhooks
  #known: readonly Hook[] | undefined
  readonly stop: () => void

  constructor(store: Store, kind: 'mutatingWebhooks' | 'validatingWebhooks') {
    this.#store = store
    this.#storage = storages[kind]
    this.stop = store.observe(({ resource }) => {
      if (resource === this.#storage) this.#known = undefined
    })
  }

  all(): readonly Hook[] {
    this.#known ??= this.#store
      .list(this.#storage, { prefix: '' })
      .items.flatMap(({ webhooks }) => webhooks ?? [])
    return this.#known
  }
}
