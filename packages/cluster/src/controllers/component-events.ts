// SPDX-License-Identifier: Apache-2.0

import { type EventRecorder, type KubeObject, type Recorder, type Resource, subjectOf } from '@grove/kube'

export interface ComponentEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  /** The source component: `default-scheduler`. */
  readonly component: string
}

/** Records events of all components of a cluster. Returns immediately and never fails. */
export class ComponentEvents {
  readonly #recorder: EventRecorder
  readonly #components = new Map<string, Recorder>()

  constructor(recorder: EventRecorder) {
    this.#recorder = recorder
  }

  record(resource: Resource, object: KubeObject, { component, ...event }: ComponentEvent): void {
    let recorder = this.#components.get(component)
    if (!recorder) {
      recorder = this.#recorder.for(component)
      this.#components.set(component, recorder)
    }
    recorder.record(subjectOf(resource, object), event)
  }
}
