// SPDX-License-Identifier: Apache-2.0

// The long-lived token by which the start-up waiters of a set watch pods. Secrets are read by name and never cached:
// the operator has no business with the others.
import { names, type Secret, setErrorCode } from '@grove/api'
import { isAlreadyExists } from '@grove/kube'
import { isControlledBy } from '../child-objects.ts'
import { CodedError } from '../coded-error.ts'
import { tokenSecret } from '../objects/identity.ts'
import type { OperatorContext } from '../operator-context.ts'
import { resources } from '../resources.ts'
import type { StoredSet } from '../stored.ts'

/** Written by the cluster next to the token. */
const accountUidAnnotation = 'kubernetes.io/service-account.uid'

export class TokenSecrets {
  readonly #context: OperatorContext
  /** Sets whose Secret is there, with the account that it is for, by UID: it is made once and never changed. */
  readonly #known = new Map<string, string>()

  constructor(context: OperatorContext) {
    this.#context = context
    context.world.sets.onChange(change => {
      if (change.type === 'delete') this.#known.delete(change.old.metadata.uid)
    })
  }

  /** After the set's account is there: a token for an account that does not exist is thrown away by the cluster. */
  async sync(set: StoredSet, signal: AbortSignal): Promise<void> {
    const { namespace, name, uid } = set.metadata
    const account = this.#context.world.serviceAccounts.get({ namespace, name: names.serviceAccount(name) })
    const accountUid = account?.metadata.uid ?? ''
    if (this.#known.get(uid) === accountUid) return
    const wanted = tokenSecret(set)
    const id = `${namespace}/${wanted.metadata.name}`
    try {
      await this.#create(set, wanted, accountUid, signal)
    } catch (error) {
      if (error instanceof CodedError) throw error
      throw new CodedError('Sync', setErrorCode.createSecret, `Error creating Secret ${id}`, error)
    }
    this.#known.set(uid, accountUid)
  }

  async #create(set: StoredSet, wanted: Secret, accountUid: string, signal: AbortSignal): Promise<void> {
    const { client } = this.#context.world
    const ref = { namespace: set.metadata.namespace, name: wanted.metadata.name }
    try {
      await client.create(resources.secrets, wanted, { signal })
      return
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
    }
    const found = await client.find(resources.secrets, ref, { signal })
    if (found && !isControlledBy(found, set.metadata.uid))
      throw new CodedError(
        'Sync',
        setErrorCode.secretConflict,
        `Secret ${ref.namespace}/${ref.name} exists and is not controlled by this PodCliqueSet; remove it`,
      )
    const madeFor = found?.metadata.annotations?.[accountUidAnnotation]
    if (found && (!madeFor || madeFor === accountUid)) return
    // Of an account that was deleted: the cluster takes it away sooner or later, and its token is void.
    if (found)
      await client.delete(resources.secrets, ref, { signal, preconditions: { uid: found.metadata.uid } })
    await client.create(resources.secrets, wanted, { signal })
  }
}
