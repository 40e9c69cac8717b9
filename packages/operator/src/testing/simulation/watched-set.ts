// SPDX-License-Identifier: Apache-2.0

// A simulated set in sync, with the events emitted since, and with writes that can be rejected.
import assert from 'node:assert/strict'
import type { LastError } from '@grove/api'
import type { StoredSet } from '../../layout/stored.ts'
import { failure, type Write } from './api.ts'
import { converge } from './convergence.ts'
import { Simulation } from './simulation.ts'

export interface WatchedSet {
  readonly simulation: Simulation
  /** `Kind/name source type reason: message`, in the order of emission. */
  readonly emitted: string[]
  /** `verb resource` of every attempted write. */
  readonly writes: string[]
  /** Rejects these writes from now on. Without an argument, rejects none. */
  reject(isRejected?: (write: Write) => boolean): void
}

export async function watchedSet(set: StoredSet): Promise<WatchedSet> {
  const emitted: string[] = []
  const writes: string[] = []
  const simulation = new Simulation({
    seed: 1,
    set,
    nodes: 2,
    places: 50,
    observer: { reconcileBegins: () => {}, patches: () => {}, deletes: () => {}, inspects: () => {} },
    events: {
      emit: ({ kind, metadata }, source, { type, reason, message }) =>
        void emitted.push(`${kind}/${metadata?.name} ${source} ${type} ${reason}: ${message}`),
    },
  })
  assert.ok(await converge(simulation, 60), 'the set converges')
  emitted.length = 0
  let isRejected: (write: Write) => boolean = () => false
  simulation.api.hooks = {
    before: async write => {
      writes.push(`${write.verb} ${write.resource}`)
      if (isRejected(write)) throw failure('Forbidden', 'not today')
    },
    after: () => undefined,
  }
  return {
    simulation,
    emitted,
    writes,
    reject: (next = () => false) => {
      isRejected = next
    },
  }
}

/** Codes and descriptions, as `kubectl` shows them. */
export function errorsOf(object: { status?: { lastErrors?: readonly LastError[] } } | undefined): string[] {
  return (object?.status?.lastErrors ?? []).map(({ code, description }) => `${code} ${description}`)
}
