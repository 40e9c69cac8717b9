// SPDX-License-Identifier: Apache-2.0

export {
  type EventDescription,
  type EventFormat,
  type EventSubject,
  type EventType,
  type StoredEvent,
  subjectOf,
} from './event.ts'
export { EventRecorder, type EventRecorderOptions, type Recorder } from './recorder.ts'
export { type EventSink, eventSink } from './sink.ts'
