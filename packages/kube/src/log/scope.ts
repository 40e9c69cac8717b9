// SPDX-License-Identifier: Apache-2.0

// Fields that every line has which is logged during an asynchronous call, whichever logger writes it. A reconcile has
// its object and its ID as such fields, so that no function has to pass a logger on.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { LogFields } from './logger.ts'

const scopes = new AsyncLocalStorage<() => LogFields>()

/** Runs the function. The fields are computed only when a line is logged. */
export function withLogFields<Result>(fields: () => LogFields, run: () => Result): Result {
  return scopes.run(fields, run)
}

/** The fields of the current scope; none outside of a scope. */
export function scopeFields(): LogFields {
  return scopes.getStore()?.() ?? {}
}
