// SPDX-License-Identifier: Apache-2.0

import { autoscaling } from './autoscaling.ts'
import { cascades, namespaceDeletion } from './deletion.ts'
import { nodeFailures } from './nodes.ts'
import { accounts, claims, workloads } from './workloads.ts'

/** Cases about controllers, schedulers and kubelets, which need a complete cluster. */
export const controllerChapters = [
  cascades,
  namespaceDeletion,
  accounts,
  workloads,
  claims,
  autoscaling,
  nodeFailures,
]
