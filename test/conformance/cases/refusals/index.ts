// SPDX-License-Identifier: Apache-2.0

import { refusedAutoscalers } from './autoscalers.ts'
import { refusedClaims } from './claims.ts'
import { refusedConfiguration } from './configuration.ts'
import { refusedPolicies } from './policies.ts'
import { refusedServices } from './services.ts'

/** What a server must not accept, in its words. */
export const refusalChapters = [
  refusedAutoscalers,
  refusedServices,
  refusedClaims,
  refusedPolicies,
  refusedConfiguration,
]
