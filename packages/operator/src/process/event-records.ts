// SPDX-License-Identifier: Apache-2.0

import type { EventRecorder, Recorder } from '@grove/kube'
import type { EventSink } from '../apply/intent.ts'

/** Queues the events of the operator's controllers and writes them to the cluster. */
export function recordedEvents(recorder: EventRecorder): EventSink {
  const bySource = new Map<string, Recorder>()
  return {
    emit({ apiVersion = '', kind = '', metadata }, source, event) {
      let recording = bySource.get(source)
      if (!recording) {
        recording = recorder.for(source)
        bySource.set(source, recording)
      }
      const { name = '', namespace, uid, resourceVersion } = metadata ?? {}
      recording.record(
        {
          apiVersion,
          kind,
          name,
          ...(namespace && { namespace }),
          ...(uid && { uid }),
          ...(resourceVersion && { resourceVersion }),
        },
        event,
      )
    },
  }
}
