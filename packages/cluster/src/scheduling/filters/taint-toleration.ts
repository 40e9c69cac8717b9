// SPDX-License-Identifier: Apache-2.0

import type { Filter, Rejection } from '../filter.ts'
import { untoleratedTaint } from '../taints.ts'

const rejection: Rejection = {
  filter: 'TaintToleration',
  reasons: ['node(s) had untolerated taint(s)'],
  resolvable: false,
}

export const taintToleration: Filter = {
  name: 'TaintToleration',
  prepare: ({ pod }) => {
    const tolerations = pod.spec?.tolerations
    return ({ taints }) =>
      taints && untoleratedTaint(taints, tolerations, 'NoSchedule', 'NoExecute') ? rejection : undefined
  },
}
