// SPDX-License-Identifier: Apache-2.0

// A simulated set whose every write and event is on record, and whose writes can be refused.
import type { EventValue } from '@grove/api'
import type { KubeObject } from '@grove/kube'
import type { StoredSet } from '../../layout/stored.ts'
import type { Write } from './api.ts'
import { type Observer, Simulation } from './simulation.ts'

export interface Told {
  readonly about: string
  readonly source: string
  readonly event: EventValue
}

const nobody: Observer = { reconcileBegins: () => {}, patches: () => {}, deletes: () => {}, looks: () => {} }

export class RecordedSimulation extends Simulation {
  /** As `verb resource`, in the order in which they were sent. */
  readonly writes: string[] = []
  readonly told: Told[]
  /** Why a write is refused; undefined lets it pass. */
  refuse: (write: Write) => unknown = () => undefined

  constructor(set: StoredSet) {
    const told: Told[] = []
    super({
      seed: 1,
      set,
      nodes: 2,
      places: 1_000,
      observer: nobody,
      events: {
        emit: (about: KubeObject, source, event) =>
          void told.push({ about: `${about.kind} ${about.metadata?.name}`, source, event }),
      },
    })
    this.told = told
    const { before, after } = this.api.hooks
    this.api.hooks = {
      after,
      before: async write => {
        this.writes.push(`${write.verb} ${write.resource}`)
        const refusal = this.refuse(write)
        if (refusal !== undefined) throw refusal
        await before(write)
      },
    }
  }

  /** One reconcile of the set; what failed in it. */
  async lookAtSet(): Promise<unknown> {
    this.writes.length = 0
    this.told.length = 0
    try {
      await this.reconcile('set')
      return undefined
    } catch (error) {
      return error
    }
  }

  /** What the set says keeps it from being as wanted, as `code description`. */
  get lastErrors(): string[] {
    return (this.set.status?.lastErrors ?? []).map(({ code, description }) => `${code} ${description}`)
  }

  /** Events of the last pass, as `type reason message`. */
  get events(): string[] {
    return this.told.map(({ event }) => `${event.type} ${event.reason} ${event.message}`)
  }
}
