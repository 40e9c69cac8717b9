// SPDX-License-Identifier: Apache-2.0

// A simulated set that has settled, every event told about it since, and writes that may be refused.
import assert from 'node:assert/strict'
import type { LastError } from '@grove/api'
import type { StoredSet } from '../../layout/stored.ts'
import { failure, type Write } from './api.ts'
import { Simulation } from './simulation.ts'
import { settle } from './wellness.ts'

export interface WatchedSet {
  readonly simulation: Simulation
  /** `Kind/name source type reason: message`, in the order in which they were told. */
  readonly told: string[]
  /** `verb resource`, of every write that was asked for. */
  readonly asked: string[]
  /** From now on these writes are refused; none when nothing is given. */
  refuse(isRefused?: (write: Write) => boolean): void
}

export async function watchedSet(set: StoredSet): Promise<WatchedSet> {
  const told: string[] = []
  const asked: string[] = []
  const simulation = new Simulation({
    seed: 1,
    set,
    nodes: 2,
    places: 50,
    observer: { reconcileBegins: () => {}, patches: () => {}, deletes: () => {}, looks: () => {} },
    events: {
      emit: ({ kind, metadata }, source, { type, reason, message }) =>
        void told.push(`${kind}/${metadata?.name} ${source} ${type} ${reason}: ${message}`),
    },
  })
  assert.ok(await settle(simulation, 60), 'the set settles')
  told.length = 0
  let isRefused: (write: Write) => boolean = () => false
  simulation.api.hooks = {
    before: async write => {
      asked.push(`${write.verb} ${write.resource}`)
      if (isRefused(write)) throw failure('Forbidden', 'not today')
    },
    after: () => undefined,
  }
  return {
    simulation,
    told,
    asked,
    refuse: (next = () => false) => {
      isRefused = next
    },
  }
}

/** Codes and descriptions, as `kubectl` shows them. */
export function errorsOf(object: { status?: { lastErrors?: readonly LastError[] } } | undefined): string[] {
  return (object?.status?.lastErrors ?? []).map(({ code, description }) => `${code} ${description}`)
}
