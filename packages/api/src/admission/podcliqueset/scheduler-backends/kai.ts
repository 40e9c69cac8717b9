// SPDX-License-Identifier: Apache-2.0

import { quote } from '@grove/apimachinery'
import { annotation } from '../../../annotations.ts'
import { label } from '../../../labels.ts'
import type { PodCliqueSet } from '../../../types/index.ts'
import type { SchedulerRules } from './rules.ts'

interface Carrier {
  readonly labels?: Readonly<Record<string, string>> | undefined
  readonly annotations?: Readonly<Record<string, string>> | undefined
}

/** The label takes precedence. An empty one counts as absent. */
function queueOf({ labels, annotations }: Carrier): string {
  return labels?.[label.kaiQueue] || annotations?.[annotation.kaiQueue] || ''
}

function queuesOf(set: PodCliqueSet): { ofSet: string; ofCliques: { clique: string; queue: string }[] } {
  return {
    ofSet: queueOf(set.metadata),
    ofCliques: set.spec.template.cliques.map(clique => ({ clique: clique.name, queue: queueOf(clique) })),
  }
}

/** All pods of a gang are charged to one queue, and KAI ignores pods without a queue. */
export const kaiRules: SchedulerRules = {
  inputs: queuesOf,

  validate(set) {
    const { ofSet, ofCliques } = queuesOf(set)
    const name = `PodCliqueSet ${set.metadata.namespace}/${set.metadata.name}`
    if (ofSet) {
      const other = ofCliques.find(({ queue }) => queue && queue !== ofSet)
      if (!other) return undefined
      return `KAI queue on ${name} is ${quote(ofSet)} but PodClique template ${quote(other.clique)} resolves to ${quote(other.queue)}`
    }
    const queues = [...new Set(ofCliques.map(({ queue }) => queue))].filter(queue => queue !== '').sort()
    if (queues.length === 0) return `no KAI queue is configured on ${name} or its PodClique templates`
    if (queues.length === 1) return undefined
    return `conflicting KAI queues on ${name} PodClique templates: [${queues.join(' ')}]`
  },
}
