// SPDX-License-Identifier: Apache-2.0

import type { EventRecorder } from '@grove/kube'
import type { GangEvents } from './gang-writes.ts'

/** Events of the scheduler on their way to the cluster. */
export function recordedGangEvents(recorder: EventRecorder): GangEvents {
  const recording = recorder.for('grove-scheduler')
  return {
    emit({ apiVersion = '', kind = '', metadata }, event) {
      const { name, namespace, uid, resourceVersion } = metadata
      recording.record(
        { apiVersion, kind, name, ...(namespace && { namespace }), uid, resourceVersion },
        event,
      )
    },
  }
}
