// SPDX-License-Identifier: Apache-2.0

// An event about an object, as a value and in both API formats. Core/v1 is the format of `kubectl get events` and
// `kubectl describe`. events.k8s.io/v1 is the same storage with stricter validation.
import { randomBytes } from 'node:crypto'
import type { KubeObject, ObjectMeta } from '../client/object.ts'
import { apiVersionOf, defineResource, type Resource } from '../client/resource.ts'
import { microTime } from '../lease/record.ts'

export type EventType = 'Normal' | 'Warning'

/** One event. Define these in a catalogue of constructors. */
export interface EventDescription {
  readonly type: EventType
  /** UpperCamelCase, for machines: `PodCreateFailed`. */
  readonly reason: string
  /** A sentence for people. */
  readonly message: string
}

/** The object of the event. */
export interface EventSubject {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  /** Undefined for cluster-scoped objects; their events are stored in `default`. */
  readonly namespace?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly fieldPath?: string
}

/** Items of lists have no kind, so the resource supplies it. */
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

/** Longest stored message; events.k8s.io rejects longer ones. */
const maxMessageBytes = 1024
const maxNamePrefix = 200
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

/** An event and its count. Times are milliseconds since the epoch. */
export interface EventSeries extends EventDescription {
  readonly subject: EventSubject
  /** The reporting component: `fleet-controller`. */
  readonly component: string
  /** The instance, if several processes report as the same component. */
  readonly instance: string
  readonly count: number
  readonly firstAt: number
  readonly lastAt: number
}

/** Returns the object to create. */
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

/** Returns the merge patch that updates a stored event. */
export function renderRepeat(series: EventSeries, format: EventFormat): object {
  return format === 'core/v1'
    ? { count: series.count, lastTimestamp: seconds(series.lastAt), message: shortened(series.message) }
    : { series: seriesOf(series) }
}

function seriesOf({ count, lastAt }: EventSeries): object {
  return { count, lastObservedTime: microTime(lastAt) }
}

/** `<object>.<random>`: two events in one millisecond get different names. */
function eventName(subject: string): string {
  return `${subject.slice(0, maxNamePrefix).replace(/[^a-z0-9]+$/, '')}.${randomBytes(8).toString('hex')}`
}

function shortened(message: string): string {
  if (Buffer.byteLength(message) <= maxMessageBytes) return message
  const ellipsis = '…'
  // Truncate by bytes. A character that is cut in two becomes a replacement character, which is removed too.
  const room = maxMessageBytes - Buffer.byteLength(ellipsis)
  return `${Buffer.from(message).subarray(0, room).toString('utf8').replace(/�+$/, '')}${ellipsis}`
}

/** metav1.Time has no fractions. */
function seconds(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 19)}Z`
}
