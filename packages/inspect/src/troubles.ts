// SPDX-License-Identifier: Apache-2.0

import type { Condition } from '@grove/api'
import { conditionType } from '@grove/api/constants'

const badUnlessFalse: ReadonlySet<string> = new Set([
  conditionType.minAvailableBreached,
  conditionType.topologyLevelsUnavailable,
  conditionType.gangTerminationInProgress,
  conditionType.podsFailing,
  conditionType.podGangUnhealthy,
  conditionType.podGangDisruptionTarget,
  conditionType.stalled,
])
const badIfFalse: ReadonlySet<string> = new Set([
  conditionType.podCliqueScheduled,
  conditionType.podGangScheduled,
])

/** The conditions that report a problem. */
export function troublesOf(conditions: readonly Condition[] | undefined): Condition[] {
  return (conditions ?? []).filter(({ type, status }) =>
    status === 'False' ? badIfFalse.has(type) : badUnlessFalse.has(type),
  )
}
