// SPDX-License-Identifier: Apache-2.0

import type { Filter, Rejection } from '../filter.ts'
import type { NodeState } from '../node-state.ts'
import type { PodInfo } from '../pod-info.ts'
import { nodeTermTest } from '../selector.ts'

const rejection: Rejection = {
  filter: 'NodeAffinity',
  reasons: ["node(s) didn't match Pod's node affinity/selector"],
  resolvable: false,
}

export const nodeAffinity: Filter = {
  name: 'NodeAffinity',
  prepare(pod) {
    const test = nodeTest(pod)
    return test && (node => (test(node) ? undefined : rejection))
  },
}

/** Combines the node selector and the required node affinity of the pod; undefined without both. */
export function nodeTest({ pod }: PodInfo): ((node: NodeState) => boolean) | undefined {
  const pairs = Object.entries(pod.spec?.nodeSelector ?? {})
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  if (pairs.length === 0 && !required) return undefined
  const terms = required?.nodeSelectorTerms?.map(nodeTermTest)
  return node =>
    pairs.every(([key, value]) => node.labels[key] === value) &&
    (!required || (terms?.some(test => test(node)) ?? false))
}
