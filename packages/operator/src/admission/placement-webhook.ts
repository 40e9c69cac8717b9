// SPDX-License-Identifier: Apache-2.0

// The webhook that warns about sets that can never fit. It allows every request.
import { isDeepStrictEqual } from 'node:util'
import {
  decodePodCliqueSet,
  type Node,
  type OperatorConfiguration,
  type PodCliqueSet,
  shortenedWarnings,
} from '@grove/api'
import { type AdmissionRequest, allowed, type IsolatedWebhook } from '@grove/kube/admission'
import { type PlacementFacts, placementWarnings } from './placement-warnings.ts'
import { isTerminating, isWrite } from './webhook-rules.ts'

/** Always needs the nodes and the topology bindings. */
export type PlacementQuestion = 'nodes'

/**
 * The lookup results as they are sent between processes. Nodes are JSON text, which is cheap to send; the receiver
 * parses it.
 */
export interface SentFacts extends Pick<PlacementFacts, 'topologyBindings'> {
  readonly nodes: readonly string[]
}

export type PlacementWebhook = IsolatedWebhook<PlacementQuestion, SentFacts>

export function placementWebhook(configuration: OperatorConfiguration): PlacementWebhook {
  return {
    question(request) {
      return changedSet(request) ? 'nodes' : undefined
    },
    decide(request, facts) {
      const set = facts && changedSet(request)
      if (!set) return allowed()
      try {
        const known = { ...facts, nodes: facts.nodes.map(text => JSON.parse(text) as Node) }
        return allowed({ warnings: shortenedWarnings(placementWarnings(set, known, configuration)) })
      } catch {
        // A warning must never reject a set. An invalid set cannot be rendered; the validating webhook reports why.
        return allowed()
      }
    },
  }
}

/** Returns the set if it is new or its spec changes. */
function changedSet(request: AdmissionRequest): PodCliqueSet | undefined {
  if (!isWrite(request) || isTerminating(request) || request.subResource) return undefined
  const decoded = decodePodCliqueSet(request.object)
  if (!decoded.ok || !decoded.value.metadata.name) return undefined
  const { object, oldObject } = request as Record<'object' | 'oldObject', { spec?: unknown } | undefined>
  if (request.operation === 'UPDATE' && isDeepStrictEqual(object?.spec, oldObject?.spec)) return undefined
  const { metadata } = decoded.value
  return { ...decoded.value, metadata: { ...metadata, namespace: metadata.namespace ?? request.namespace } }
}
