// SPDX-License-Identifier: Apache-2.0

// Warns if a user scales a member of a scaling group directly. It allows every request.
import { memberScalingWarning } from '@grove/api'
import { type AdmissionRequest, type AdmissionResponse, allowed } from '@grove/kube/admission'
import type { GroveWebhook } from './webhook-rules.ts'

export function scalingWebhook(): GroveWebhook {
  return {
    question(request) {
      if (request.operation !== 'UPDATE' || labelsOf(request)) return undefined
      const { namespace = '', name = '' } = request
      return { topologyBindings: [], volcanoQueues: [], podCliqueSets: [], podCliques: [{ namespace, name }] }
    },
    decide(request, facts): AdmissionResponse {
      const { namespace = '', name = '' } = request
      if (request.operation !== 'UPDATE' || replicasOf(request.object) === replicasOf(request.oldObject))
        return allowed()
      const found = facts?.podCliqueLabels.get(`${namespace}/${name}`)
      const labels = labelsOf(request) ?? (found?.outcome === 'found' ? found.value : {})
      const warning = memberScalingWarning({ namespace, name, labels })
      return warning === undefined ? allowed() : allowed({ warnings: [warning] })
    },
  }
}

/** Undefined for the scale subresource, whose objects have no labels. */
function labelsOf({ oldObject }: AdmissionRequest): Readonly<Record<string, string>> | undefined {
  return (oldObject as { metadata?: { labels?: Record<string, string> } } | undefined)?.metadata?.labels
}

/** The JSON of a Scale omits zero. */
function replicasOf(object: unknown): number {
  return (object as { spec?: { replicas?: number } } | undefined)?.spec?.replicas ?? 0
}
