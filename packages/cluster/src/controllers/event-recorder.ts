// SPDX-License-Identifier: Apache-2.0

import { apiVersionOf, type Client, type Clock, isNotFound, type Resource, type Stored } from '@grove/kube'
import { events, type KubeEvent } from './kinds.ts'
import type { Logger } from './kube.ts'

export interface EventNote {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  /** Who says so: `default-scheduler`. */
  readonly component: string
  readonly host?: string
  /** What was being done: newer components say so and then write the event in its newer form. */
  readonly action?: string
}

export interface EventRecorder {
  /** Returns at once; an event that cannot be written is lost. */
  record(resource: Resource, object: Stored, note: EventNote): void
}

export interface EventRecorderOptions {
  readonly client: Client
  readonly clock: Clock
  readonly log: Logger
}

/** Events that were said before and are only counted up. */
const rememberedEvents = 4_096
/** More would only use memory: the reader is interested in the newest. */
const mostWaiting = 10_000
const writers = 8

interface Waiting {
  readonly resource: Resource
  readonly object: Stored
  readonly note: EventNote
  readonly at: number
}

/** Writes what controllers have to say as Events; repetitions raise the count of the first. */
export class ClusterEventRecorder implements EventRecorder {
  readonly #options: EventRecorderOptions
  readonly #known = new Map<string, { readonly name: string; count: number }>()
  readonly #waiting: Waiting[] = []
  #writing = 0
  #sequence = 0

  constructor(options: EventRecorderOptions) {
    this.#options = options
  }

  record(resource: Resource, object: Stored, note: EventNote): void {
    if (this.#waiting.length >= mostWaiting) this.#waiting.shift()
    this.#waiting.push({ resource, object, note, at: this.#options.clock.now() })
    if (this.#writing < writers) void this.#write()
  }

  async #write(): Promise<void> {
    this.#writing++
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      try {
        await this.#writeOne(next)
      } catch (error) {
        this.#options.log.debug('An event could not be written', { error, reason: next.note.reason })
      }
    }
    this.#writing--
  }

  async #writeOne({ resource, object, note, at }: Waiting): Promise<void> {
    const key = `${object.metadata.uid}/${note.component}/${note.reason}/${note.message}`
    const namespace = object.metadata.namespace ?? 'default'
    const time = timestamp(at)
    const known = this.#known.get(key)
    if (known) {
      const count = known.count + 1
      const merge = note.action
        ? { series: { count, lastObservedTime: microTime(at) } }
        : { count, lastTimestamp: time }
      try {
        await this.#options.client.patch(events, { namespace, name: known.name }, { merge })
        known.count++
        return
      } catch (error) {
        if (!isNotFound(error)) throw error
      }
    }
    const name = `${object.metadata.name}.${(at * 1_000 + (this.#sequence++ % 1_000)).toString(16)}`
    await this.#options.client.create(events, eventOf(resource, object, note, { namespace, name, at }))
    if (this.#known.size >= rememberedEvents) this.#known.delete(this.#known.keys().next().value!)
    this.#known.set(key, { name, count: 1 })
  }
}

function eventOf(
  resource: Resource,
  { metadata }: Stored,
  { type, reason, message, component, host, action }: EventNote,
  { namespace, name, at }: { readonly namespace: string; readonly name: string; readonly at: number },
): KubeEvent {
  const time = timestamp(at)
  const form = action
    ? { action, eventTime: microTime(at), reportingInstance: host ?? component, source: {} }
    : {
        source: { component, host },
        reportingInstance: host ?? '',
        firstTimestamp: time,
        lastTimestamp: time,
        count: 1,
      }
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { namespace, name },
    involvedObject: {
      apiVersion: apiVersionOf(resource),
      kind: resource.kind,
      namespace: metadata.namespace,
      name: metadata.name,
      uid: metadata.uid,
      resourceVersion: metadata.resourceVersion,
    },
    type,
    reason,
    message,
    reportingComponent: component,
    ...form,
  }
}

function microTime(epochMs: number): string {
  return new Date(epochMs).toISOString().replace('Z', '000Z')
}

/** A moment as the API writes it: whole seconds. */
export function timestamp(epochMs: number): string {
  return new Date(epochMs).toISOString().replace(/\.\d{3}Z$/, 'Z')
}
