// SPDX-License-Identifier: Apache-2.0

// A simulated set that records every write and event, and can reject writes.
import type { EventValue } from '@grove/api'
import type { KubeObject } from '@grove/kube'
import type { StoredSet } from '../../layout/stored.ts'
import type { Write } from './api.ts'
import { type Observer, Simulation } from './simulation.ts'

export interface EmittedEvent {
  readonly about: string
  readonly source: string
  readonly event: EventValue
}

const noObserver: Observer = {
  reconcileBegins: () => {},
  patches: () => {},
  deletes: () => {},
  inspects: () => {},
}

export class RecordedSimulation extends Simulation {
  /** As `verb resource`, in the order in which they were sent. */
  readonly writes: string[] = []
  readonly emitted: EmittedEvent[]
  /** Returns the error that rejects the write; undefined accepts it. */
  reject: (write: Write) => unknown = () => undefined

  constructor(set: StoredSet) {
    const emitted: EmittedEvent[] = []
    super({
      seed: 1,
      set,
      nodes: 2,
      places: 1_000,
      observer: noObserver,
      events: {
        emit: (about: KubeObject, source, event) =>
          void emitted.push({ about: `${about.kind} ${about.metadata?.name}`, source, event }),
      },
    })
    this.emitted = emitted
    const { before, after } = this.api.hooks
    this.api.hooks = {
      after,
      before: async write => {
        this.writes.push(`${write.verb} ${write.resource}`)
        const rejection = this.reject(write)
        if (rejection !== undefined) throw rejection
        await before(write)
      },
    }
  }

  /** Reconciles the set once. Returns the failure. */
  async reconcileSet(): Promise<unknown> {
    this.writes.length = 0
    this.emitted.length = 0
    try {
      await this.reconcile('set')
      return undefined
    } catch (error) {
      return error
    }
  }

  /** The lastErrors of the set, as `code description`. */
  get lastErrors(): string[] {
    return (this.set.status?.lastErrors ?? []).map(({ code, description }) => `${code} ${description}`)
  }

  /** Events of the last reconcile, as `type reason message`. */
  get events(): string[] {
    return this.emitted.map(({ event }) => `${event.type} ${event.reason} ${event.message}`)
  }
}
