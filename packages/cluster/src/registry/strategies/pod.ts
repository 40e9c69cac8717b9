// SPDX-License-Identifier: Apache-2.0

import { parseQuantity } from '@grove/apimachinery'
import type { Container, Pod, PodCondition, PodSpec } from '../../schema/types.generated.ts'
import type { SelectableFields, Strategy } from '../resource.ts'
import { validatePod } from '../validation/pod.ts'
import { validatePodStatusUpdate, validatePodUpdate } from '../validation/pod-update.ts'

export const podStrategy: Partial<Strategy<Pod>> = {
  hasGeneration: true,
  returnsDeleted: true,
  prepareForCreate(pod, { now }) {
    pod.status = { phase: 'Pending', qosClass: qualityOfService(pod.spec ?? {}) }
    if (pod.spec?.schedulingGates?.length) pod.status.conditions = [gatedCondition(now)]
  },
  prepareForStatusUpdate(draft, old) {
    const { status } = draft
    if (!status) return
    status.qosClass ||= old.status?.qosClass
    // podIP is the first of podIPs.
    if (status.podIP && status.podIPs?.[0]?.ip !== status.podIP) status.podIPs = [{ ip: status.podIP }]
  },
  validate: validatePod,
  validateUpdate: validatePodUpdate,
  validateStatusUpdate: validatePodStatusUpdate,
  gracePeriod(object, asked) {
    const { spec, status } = object
    if (!spec?.nodeName || status?.phase === 'Failed' || status?.phase === 'Succeeded') return 0
    const period = asked ?? spec.terminationGracePeriodSeconds ?? 0
    return period < 0 ? 1 : period
  },
}

function gatedCondition(now: string): PodCondition {
  return {
    type: 'PodScheduled',
    status: 'False',
    lastProbeTime: null,
    lastTransitionTime: now,
    reason: 'SchedulingGated',
    message: 'Scheduling is blocked due to non-empty scheduling gates',
  }
}

const counted = ['cpu', 'memory']

/**
 * Guaranteed if every container has equal requests and limits for cpu and memory, BestEffort if no container
 * has any.
 */
export function qualityOfService(spec: PodSpec): string {
  const containers: Container[] = [...(spec.containers ?? []), ...(spec.initContainers ?? [])]
  let any = false
  let guaranteed = true
  for (const { resources } of containers) {
    for (const name of counted) {
      const limit = amount(resources?.limits?.[name])
      const request = amount(resources?.requests?.[name])
      if (limit || request) any = true
      if (!limit || limit !== request) guaranteed = false
    }
  }
  if (!any) return 'BestEffort'
  return guaranteed ? 'Guaranteed' : 'Burstable'
}

/** Returns a comparable string, empty for zero. Stored quantities are canonical. */
function amount(quantity: string | undefined): string {
  if (quantity === undefined || parseQuantity(quantity).unscaled === 0n) return ''
  return quantity
}

export const podSelectableFields: SelectableFields<Pod> = {
  'spec.nodeName': object => object.spec?.nodeName ?? '',
  'spec.restartPolicy': object => object.spec?.restartPolicy ?? '',
  'spec.schedulerName': object => object.spec?.schedulerName ?? '',
  'spec.serviceAccountName': object => object.spec?.serviceAccountName ?? '',
  'spec.hostNetwork': object => String(object.spec?.hostNetwork ?? false),
  'status.phase': object => object.status?.phase ?? '',
  'status.podIP': object => object.status?.podIP ?? '',
  'status.nominatedNodeName': object => object.status?.nominatedNodeName ?? '',
}
