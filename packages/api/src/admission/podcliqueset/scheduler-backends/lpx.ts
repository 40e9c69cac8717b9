// SPDX-License-Identifier: Apache-2.0

import { allConstraints } from '../topology-constraints.ts'
import type { SchedulerRules } from './rules.ts'

/** LPX does not support the topology constraints of this API. */
export const lpxRules: SchedulerRules = {
  inputs: set => allConstraints(set).length > 0,

  validate: set =>
    allConstraints(set).length > 0
      ? 'lpx-scheduler does not support Grove topology constraints; placement topology must be expressed through the LPX workload contract'
      : undefined,
}
