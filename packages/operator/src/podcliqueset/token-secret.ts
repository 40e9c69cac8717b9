// SPDX-License-Identifier: Apache-2.0

// The long-lived token by which the start-up waiters of a set watch pods. Secrets are read by name and never cached:
// the operator has no business with the others.
import { type PodCliqueSet, setErrorCode } from '@grove/api'
import { isAlreadyExists } from '@grove/kube'
import { isControlledBy } from '../child-objects.ts'
import { CodedError } from '../coded-error.ts'
import { tokenSecret } from '../objects/identity.ts'
import type { OperatorContext } from '../operator-context.ts'
import { resources } from '../resources.ts'
import type { StoredSet } from '../stored.ts'

/** Sets whose Secret has been seen, by UID: it is made once and never changed. */
const seen = new WeakMap<object, Set<string>>()

export async function syncTokenSecret(
  set: StoredSet,
  context: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const { world } = context
  const known = seen.get(world) ?? new Set()
  seen.set(world, known)
  if (known.has(set.metadata.uid)) return
  const wanted = tokenSecret(set)
  const ref = { name: wanted.metadata.name, namespace: set.metadata.namespace }
  try {
    await world.client.create(resources.secrets, wanted, { signal })
  } catch (error) {
    if (!isAlreadyExists(error))
      throw new CodedError(
        'Sync',
        setErrorCode.createSecret,
        `Error creating Secret ${ref.namespace}/${ref.name}`,
        error,
      )
    await expectOurs(set, ref, context, signal)
  }
  known.add(set.metadata.uid)
}

async function expectOurs(
  set: PodCliqueSet & StoredSet,
  ref: { name: string; namespace: string },
  { world }: OperatorContext,
  signal: AbortSignal,
): Promise<void> {
  const found = await world.client.find(resources.secrets, ref, { signal })
  if (found && !isControlledBy(found, set.metadata.uid))
    throw new CodedError(
      'Sync',
      setErrorCode.secretConflict,
      `Secret ${ref.namespace}/${ref.name} exists and is not controlled by this PodCliqueSet; remove it`,
    )
}
