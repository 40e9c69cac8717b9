// SPDX-License-Identifier: Apache-2.0

import { type Score, scaled } from '../score.ts'
import { nodeTermTest } from '../selector.ts'
import { tolerates } from '../taints.ts'

/** Prefers nodes with fewer untolerated PreferNoSchedule taints. */
export const taintPreference: Score = {
  name: 'TaintToleration',
  weight: 3,
  rate(pod, candidates) {
    if (!candidates.some(({ taints }) => taints?.length)) return undefined
    const tolerations = pod.pod.spec?.tolerations ?? []
    const unwanted = candidates.map(
      ({ taints = [] }) =>
        taints.filter(
          taint =>
            taint.effect === 'PreferNoSchedule' &&
            !tolerations.some(toleration => tolerates(toleration, taint)),
        ).length,
    )
    return scaled(unwanted, true)
  },
}

/** Prefers nodes by the preferred node affinity of the pod. */
export const nodeAffinityPreference: Score = {
  name: 'NodeAffinity',
  weight: 2,
  rate(pod, candidates) {
    const preferred = pod.pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution
    if (!preferred?.length) return undefined
    const terms = preferred.map(({ weight = 0, preference = {} }) => ({
      weight,
      test: nodeTermTest(preference),
    }))
    return scaled(
      candidates.map(node => terms.reduce((sum, { weight, test }) => sum + (test(node) ? weight : 0), 0)),
    )
  },
}
