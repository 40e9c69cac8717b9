// SPDX-License-Identifier: Apache-2.0

// The long-lived token by which the start-up waiters of a set watch pods. Secrets are read by name and never cached:
// the operator has no business with the others.
import { setErrorCode } from '@grove/api'
import { isAlreadyExists } from '@grove/kube'
import { isControlledBy } from '../child-objects.ts'
import { CodedError } from '../coded-error.ts'
import { tokenSecret } from '../objects/identity.ts'
import type { OperatorContext } from '../operator-context.ts'
import { resources } from '../resources.ts'
import type { StoredSet } from '../stored.ts'

export class TokenSecrets {
  readonly #context: OperatorContext
  /** Sets whose Secret is there, by UID: it is made once and never changed. */
  readonly #known = new Set<string>()

  constructor(context: OperatorContext) {
    this.#context = context
    context.world.sets.onChange(change => {
      if (change.type === 'delete') this.#known.delete(change.old.metadata.uid)
    })
  }

  async sync(set: StoredSet, signal: AbortSignal): Promise<void> {
    if (this.#known.has(set.metadata.uid)) return
    const wanted = tokenSecret(set)
    const id = `${set.metadata.namespace}/${wanted.metadata.name}`
    try {
      await this.#context.world.client.create(resources.secrets, wanted, { signal })
    } catch (error) {
      if (!isAlreadyExists(error))
        throw new CodedError('Sync', setErrorCode.createSecret, `Error creating Secret ${id}`, error)
      await this.#expectOurs(set, wanted.metadata.name, signal)
    }
    this.#known.add(set.metadata.uid)
  }

  async #expectOurs(set: StoredSet, name: string, signal: AbortSignal): Promise<void> {
    const { namespace, uid } = set.metadata
    const found = await this.#context.world.client.find(resources.secrets, { namespace, name }, { signal })
    if (found && !isControlledBy(found, uid))
      throw new CodedError(
        'Sync',
        setErrorCode.secretConflict,
        `Secret ${namespace}/${name} exists and is not controlled by this PodCliqueSet; remove it`,
      )
  }
}
