// SPDX-License-Identifier: Apache-2.0

import type { Score } from '../score.ts'
import { podAffinityPreference, spreadPreference } from './pods.ts'
import { nodeAffinityPreference, taintPreference } from './preferences.ts'
import { balancedAllocation, leastAllocated } from './resources.ts'

/** The scores of kube-scheduler that matter without images and volumes, with its weights. */
export const defaultScores: readonly Score[] = [
  taintPreference,
  nodeAffinityPreference,
  spreadPreference,
  podAffinityPreference,
  leastAllocated,
  balancedAllocation,
]
