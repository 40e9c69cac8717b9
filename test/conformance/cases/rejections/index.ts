// SPDX-License-Identifier: Apache-2.0

import { rejectedAutoscalers } from './autoscalers.ts'
import { rejectedClaims } from './claims.ts'
import { rejectedConfiguration } from './configuration.ts'
import { rejectedPods } from './pods.ts'
import { rejectedPolicies } from './policies.ts'
import { rejectedRights } from './rights.ts'
import { rejectedServices } from './services.ts'

/** Objects that a server rejects, with its messages. */
export const rejectionChapters = [
  rejectedAutoscalers,
  rejectedServices,
  rejectedClaims,
  rejectedPolicies,
  rejectedConfiguration,
  rejectedPods,
  rejectedRights,
]
