// SPDX-License-Identifier: Apache-2.0

import { isKubeError, type KubeError } from './error.ts'
import { generatedNameAttempts, withGeneratedName } from './generated-name.ts'
import type { KubeObject, Stored } from './object.ts'
import { hasNoResponse, mayBeCarriedOut } from './retry.ts'

/** The requests of a create with a generated name. */
export interface GeneratedCreate<T extends KubeObject> {
  /** Sends the object, with retries. Reports each failure after which it retries. */
  send(named: T, onRepeat: (error: KubeError) => void): Promise<Stored<T>>
  find(named: T): Promise<Stored<T> | undefined>
  /** Waits, a little longer each time. Rejects with a KubeError if the caller no longer wants the object. */
  pause(attempt: number): Promise<void>
  readonly random: () => number
}

/**
 * Creates an object with a generated name exactly once. The client chooses the name. If a response is lost, it sends
 * and gets the same object until it knows whether the object exists. Otherwise a controller that counts its children
 * would create one too many after a lost response.
 */
export async function createGenerated<T extends KubeObject>(
  object: T,
  steps: GeneratedCreate<T>,
): Promise<Stored<T>> {
  for (let names = 1; ; names++) {
    const named = withGeneratedName(object, steps.random)
    let mayBeDone = false
    try {
      return await steps.send(named, error => {
        mayBeDone ||= mayBeCarriedOut(error)
      })
    } catch (error) {
      if (!isKubeError(error)) throw error
      if (mayBeDone || mayBeCarriedOut(error)) return await makeCertain(named, error, steps)
      // Another object has this name.
      if (error.code !== 'AlreadyExists' || names >= generatedNameAttempts) throw error
    }
  }
}

async function makeCertain<T extends KubeObject>(
  named: T,
  failure: KubeError,
  steps: GeneratedCreate<T>,
): Promise<Stored<T>> {
  let last = failure
  for (let attempt = 1; ; attempt++) {
    try {
      const found = await steps.find(named)
      if (found) return found
      // With a response, a missing object is final. Without a response, the create may still arrive.
      if (!hasNoResponse(last)) throw last
      return await steps.send(named, () => {})
    } catch (error) {
      if (error === last || !isKubeError(error) || error.code === 'Aborted') throw error
      last = error
    }
    await steps.pause(attempt)
  }
}
