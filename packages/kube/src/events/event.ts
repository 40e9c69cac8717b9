// SPDX-License-Identifier: Apache-2.0

// What happened to an object, as a value, and as the two APIs that store it want it. Core/v1 is what `kubectl get
// events` and `kubectl describe` have always shown; events.k8s.io/v1 is the same store seen through stricter eyes.
import { randomBytes } from 'node:crypto'
import type { KubeObject, ObjectMeta } from '../client/object.ts'
import { apiVersionOf, defineResource, type Resource } from '../client/resource.ts'
import { microTime } from '../lease/record.ts'

export type EventType = 'Normal' | 'Warning'

/** One thing that happened. Make these in a catalogue of constructors. */
export interface EventDescription {
  readonly type: EventType
  /** UpperCamelCase, for machines: `PodCreateFailed`. */
  readonly reason: string
  /** A sentence for people. */
  readonly message: string
}

/** The object that it happened to. */
export interface EventSubject {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  /** Left out for cluster-scoped objects; their events are stored in `default`. */
  readonly namespace?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly fieldPath?: string
}

/** Objects out of lists do not say their kind; the resource does. */
export function subjectOf(resource: Resource, { metadata }: KubeObject): EventSubject {
  const { name = '', namespace, uid, resourceVersion } = metadata ?? {}
  return {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    name,
    ...(namespace && { namespace }),
    ...(uid && { uid }),
    ...(resourceVersion && { resourceVersion }),
  }
}

/** Longest message that is stored; the API of events.k8s.io refuses longer ones. */
const longestMessage = 1024
const longestNamePrefix = 200
const namespaceOfClusterScoped = 'default'

export interface StoredEvent extends KubeObject {
  readonly metadata: ObjectMeta & { readonly name: string; readonly namespace: string }
}

export type EventFormat = 'core/v1' | 'events.k8s.io/v1'

export const eventResources: Readonly<Record<EventFormat, Resource<StoredEvent>>> = {
  'core/v1': defineResource<StoredEvent>({
    group: '',
    version: 'v1',
    resource: 'events',
    kind: 'Event',
    namespaced: true,
  }),
  'events.k8s.io/v1': defineResource<StoredEvent>({
    group: 'events.k8s.io',
    version: 'v1',
    resource: 'events',
    kind: 'Event',
    namespaced: true,
  }),
}

/** An event and how often it happened. Times are milliseconds since the epoch. */
export interface EventSeries extends EventDescription {
  readonly subject: EventSubject
  /** Who reports: `fleet-controller`. */
  readonly component: string
  /** Which of several equal reporters. */
  readonly instance: string
  readonly count: number
  readonly firstAt: number
  readonly lastAt: number
}

/** The object to create. */
export function renderEvent(series: EventSeries, format: EventFormat): StoredEvent {
  const namespace = series.subject.namespace ?? namespaceOfClusterScoped
  const metadata = { name: eventName(series.subject.name), namespace }
  const { type, reason, component, instance, subject } = series
  const message = shortened(series.message)
  if (format === 'core/v1')
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata,
      involvedObject: subject,
      reason,
      message,
      type,
      source: { component, ...(instance && { host: instance }) },
      reportingComponent: component,
      reportingInstance: instance,
      firstTimestamp: seconds(series.firstAt),
      lastTimestamp: seconds(series.lastAt),
      count: series.count,
    } as StoredEvent
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata,
    regarding: subject,
    reason,
    note: message,
    type,
    action: reason,
    reportingController: component,
    reportingInstance: instance || component,
    eventTime: microTime(series.firstAt),
    ...(series.count > 1 && { series: seriesOf(series) }),
  } as StoredEvent
}

/** The merge patch that brings a stored event up to date. */
export function renderRepeat(series: EventSeries, format: EventFormat): object {
  return format === 'core/v1'
    ? { count: series.count, lastTimestamp: seconds(series.lastAt), message: shortened(series.message) }
    : { series: seriesOf(series) }
}

function seriesOf({ count, lastAt }: EventSeries): object {
  return { count, lastObservedTime: microTime(lastAt) }
}

/** `<object>.<random>`: what happened twice in one millisecond is two events. */
function eventName(subject: string): string {
  return `${subject.slice(0, longestNamePrefix).replace(/[^a-z0-9]+$/, '')}.${randomBytes(8).toString('hex')}`
}

function shortened(message: string): string {
  if (Buffer.byteLength(message) <= longestMessage) return message
  const ellipsis = '…'
  // Cut by bytes; a character that was cut in two becomes a replacement character, which goes too.
  const room = longestMessage - Buffer.byteLength(ellipsis)
  return `${Buffer.from(message).subarray(0, room).toString('utf8').replace(/�+$/, '')}${ellipsis}`
}

/** metav1.Time has no fractions. */
function seconds(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 19)}Z`
}
