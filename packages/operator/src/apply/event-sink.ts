// SPDX-License-Identifier: Apache-2.0

import type { EventValue } from '@grove/api'
import type { KubeObject } from '@grove/kube'

/** Where events go. Never blocks and never fails: an event is not worth a pass. */
export interface EventSink {
  emit(about: KubeObject, source: string, event: EventValue): void
}
