// SPDX-License-Identifier: Apache-2.0

import type { Filter, Rejection } from '../filter.ts'
import { tolerates } from '../taints.ts'

const cordon = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }

const rejection: Rejection = {
  filter: 'NodeUnschedulable',
  reasons: ['node(s) were unschedulable'],
  resolvable: false,
}

/** A cordoned node accepts only pods that tolerate it. */
export const nodeUnschedulable: Filter = {
  name: 'NodeUnschedulable',
  prepare({ pod }) {
    const tolerated = pod.spec?.tolerations?.some(toleration => tolerates(toleration, cordon))
    return tolerated ? undefined : node => (node.unschedulable ? rejection : undefined)
  },
}
