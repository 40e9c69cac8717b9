// SPDX-License-Identifier: Apache-2.0

import type {
  AdmissionregistrationMutatingWebhook,
  AdmissionregistrationMutatingWebhookConfiguration,
} from '../schema/types.generated.ts'
import type { Store } from '../store/index.ts'

/** One webhook of one configuration. Those that only judge have no reinvocation policy; else they are the same. */
export type Hook = AdmissionregistrationMutatingWebhook

const group = 'admissionregistration.k8s.io'

/** The webhooks of all configurations of one kind, in the order of their names; read again when one changes. */
export class Hooks {
  readonly #store: Store
  readonly #storage: string
  #known: readonly Hook[] | undefined
  readonly stop: () => void

  constructor(store: Store, plural: 'mutatingwebhookconfigurations' | 'validatingwebhookconfigurations') {
    this.#store = store
    this.#storage = `${plural}.${group}`
    this.stop = store.observe(({ resource }) => {
      if (resource === this.#storage) this.#known = undefined
    })
  }

  all(): readonly Hook[] {
    this.#known ??= this.#store
      .list(this.#storage, { prefix: '' })
      .items.flatMap(
        item => (item as unknown as AdmissionregistrationMutatingWebhookConfiguration).webhooks ?? [],
      )
    return this.#known
  }
}
