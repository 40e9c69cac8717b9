// SPDX-License-Identifier: Apache-2.0

import { storages } from '../registry/storages.ts'
import type { Toleration } from '../schema/types.generated.ts'
import type { AdmissionPlugin } from '../server/admission.ts'
import { objectIn } from '../store/index.ts'

const tolerationSeconds = 300
const unavailableTaints = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']

/** Pods tolerate a not-ready or unreachable node for five minutes, unless they have their own tolerations. */
export const defaultTolerations: AdmissionPlugin = {
  name: 'DefaultTolerationSeconds',
  mutate({ operation, resource, subresource, object }) {
    // Also for updates: an update without these tolerations must not remove them.
    const pod = objectIn(storages.pods, object, resource.storage)
    if (operation === 'DELETE' || subresource !== '' || !pod) return
    pod.spec ??= {}
    const { spec } = pod
    for (const key of unavailableTaints) {
      if ((spec.tolerations ?? []).some(toleration => tolerates(toleration, key))) continue
      spec.tolerations = [
        ...(spec.tolerations ?? []),
        { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds },
      ]
    }
  },
}

function tolerates({ key, effect }: Toleration, wanted: string): boolean {
  return (!key || key === wanted) && (!effect || effect === 'NoExecute')
}

/** A new node has a NoSchedule taint until it is ready. */
export const notReadyTaint: AdmissionPlugin = {
  name: 'TaintNodesByCondition',
  mutate({ operation, resource, subresource, object }) {
    const node = objectIn(storages.nodes, object, resource.storage)
    if (operation !== 'CREATE' || subresource !== '' || !node) return
    node.spec ??= {}
    const key = 'node.kubernetes.io/not-ready'
    if (!node.spec.taints?.some(taint => taint.key === key && taint.effect === 'NoSchedule'))
      node.spec.taints = [...(node.spec.taints ?? []), { key, effect: 'NoSchedule' }]
  },
}
