// SPDX-License-Identifier: Apache-2.0

import { storages } from '../registry/storages.ts'
import type { Toleration } from '../schema/types.generated.ts'
import type { AdmissionPlugin } from '../server/admission.ts'
import { objectIn } from '../store/index.ts'

const tolerationSeconds = 300
const awayTaints = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']

/** Pods stay five minutes on a node that went away, unless they say otherwise. */
export const defaultTolerations: AdmissionPlugin = {
  name: 'DefaultTolerationSeconds',
  mutate({ operation, resource, subresource, object }) {
    // An update that leaves them out means the same pod.
    const pod = objectIn(storages.pods, object, resource.storage)
    if (operation === 'DELETE' || subresource !== '' || !pod) return
    pod.spec ??= {}
    const { spec } = pod
    for (const key of awayTaints) {
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

/** A new node takes no pods until it has said that it is ready. */
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
