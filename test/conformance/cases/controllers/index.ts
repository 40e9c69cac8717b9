// SPDX-License-Identifier: Apache-2.0

import { autoscaling } from './autoscaling.ts'
import { cascades, namespaceDeletion } from './deletion.ts'
import { nodeLife } from './nodes.ts'
import { accounts, claims, workloads } from './workloads.ts'

/** What controllers, schedulers and kubelets do; these cases need a whole cluster. */
export const controllerChapters = [
  cascades,
  namespaceDeletion,
  accounts,
  workloads,
  claims,
  autoscaling,
  nodeLife,
]
