// SPDX-License-Identifier: Apache-2.0

// A recorder on a fake clock, and a sink that stores, fails, hangs or rejects.
import { FakeClock } from '../clock/index.ts'
import type { EventDescription, EventFormat, EventSubject, StoredEvent } from '../events/event.ts'
import { EventRecorder, type EventRecorderOptions } from '../events/recorder.ts'
import type { EventSink } from '../events/sink.ts'

export const set: EventSubject = {
  apiVersion: 'example.com/v1',
  kind: 'Fleet',
  namespace: 'team',
  name: 'llm',
  uid: 'u1',
}
export const created = (pod: string): EventDescription => ({
  type: 'Normal',
  reason: 'PodCreateSuccessful',
  message: `Created Pod: ${pod}`,
})
export const lost: EventDescription = {
  type: 'Warning',
  reason: 'AllScheduledReplicasLost',
  message: 'All lost',
}

export type Stored = StoredEvent & { reason: string; message: string; count: number; type: string }

export class MemorySink implements EventSink {
  readonly format: EventFormat
  readonly stored = new Map<string, Stored>()
  requests = 0
  mode: 'works' | 'fails' | 'hangs' | 'rejects' = 'works'
  /** The delay of a response. Default: none. */
  responseDelay: (() => Promise<void>) | undefined
  readonly #hanging: (() => void)[] = []

  /** Resumes hanging calls and those to come. */
  resume(): void {
    this.mode = 'works'
    for (const response of this.#hanging.splice(0)) response()
  }

  constructor(format: EventFormat = 'core/v1') {
    this.format = format
  }

  async create(event: StoredEvent, signal: AbortSignal) {
    const rejected = await this.#request(signal)
    if (!rejected) this.stored.set(event.metadata.name, event as Stored)
    return rejected ?? ('written' as const)
  }

  async patch(event: StoredEvent, patch: object, signal: AbortSignal) {
    const rejected = await this.#request(signal)
    const before = this.stored.get(event.metadata.name)
    if (!before) return 'gone'
    this.stored.set(event.metadata.name, { ...before, ...patch })
    return rejected ?? ('written' as const)
  }

  async #request(signal: AbortSignal): Promise<'rejected' | undefined> {
    this.requests++
    await this.responseDelay?.()
    if (this.mode === 'fails') throw new Error('no route to host')
    if (this.mode === 'hangs')
      await new Promise<void>((resolve, reject) => {
        this.#hanging.push(resolve)
        signal.addEventListener('abort', () => reject(signal.reason))
      })
    return this.mode === 'rejects' ? 'rejected' : undefined
  }

  get events(): Stored[] {
    return [...this.stored.values()]
  }
}

export function recorder(options: Partial<EventRecorderOptions> & { sink?: MemorySink } = {}) {
  const clock = new FakeClock(Date.UTC(2026, 0, 1))
  const sink = options.sink ?? new MemorySink()
  const events = new EventRecorder({ clock, random: () => 0, ...options, sink })
  return { clock, sink, events, of: events.for('fleet-controller') }
}
