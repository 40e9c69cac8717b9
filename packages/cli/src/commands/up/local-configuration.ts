// SPDX-License-Identifier: Apache-2.0

import { defaultConfiguration, type OperatorConfiguration, scheduler } from '@grove/api'

/** The configuration of a local cluster, unless a file overrides it: the gang scheduler places all sets. */
export function localConfiguration(): OperatorConfiguration {
  return {
    ...defaultConfiguration(),
    scheduler: {
      profiles: [{ name: scheduler.grove }, { name: scheduler.default }],
      defaultProfileName: scheduler.grove,
    },
    topologyAwareScheduling: { enabled: true },
    placementWarnings: { enabled: true },
  }
}
