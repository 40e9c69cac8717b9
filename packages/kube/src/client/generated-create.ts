// SPDX-License-Identifier: Apache-2.0

import { isKubeError, type KubeError } from './error.ts'
import { generatedNameAttempts, withGeneratedName } from './generated-name.ts'
import type { KubeObject, Stored } from './object.ts'
import { isUnanswered, mayBeCarriedOut } from './retry.ts'

/** The requests that creating under a name of our own consists of. */
export interface GeneratedCreate<T extends KubeObject> {
  /** Sends the object, repeating while that may help; tells of each failure after which it tries again. */
  send(named: T, onRepeat: (error: KubeError) => void): Promise<Stored<T>>
  find(named: T): Promise<Stored<T> | undefined>
  /** Waits a little longer each time; rejects with a KubeError when the caller no longer wants the object. */
  pause(attempt: number): Promise<void>
  readonly random: () => number
}

/**
 * Creates an object that asks for a generated name, exactly once. The name is chosen here; so when an answer is lost,
 * the same object is sent again and asked for until it is known whether it exists. Without this, a controller that
 * counts its children would create one too many after a lost answer.
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
      // The name is taken by an object that is not ours.
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
      // Answered, and the object is not there: that answer is final. Unanswered: it may still arrive there.
      if (!isUnanswered(last)) throw last
      return await steps.send(named, () => {})
    } catch (error) {
      if (error === last || !isKubeError(error) || error.code === 'Aborted') throw error
      last = error
    }
    await steps.pause(attempt)
  }
}
