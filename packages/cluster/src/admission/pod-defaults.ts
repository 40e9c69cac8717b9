// SPDX-License-Identifier: Apache-2.0

import type { KubeObject } from '../object.ts'
import type { Node, Pod, PodSpec, Toleration } from '../schema/types.generated.ts'
import type { AdmissionPlugin } from '../server/admission.ts'

function isNew(operation: string, storage: string, subresource: string, wanted: string): boolean {
  return operation === 'CREATE' && storage === wanted && subresource === ''
}

function podSpecOf(object: KubeObject | undefined): PodSpec {
  const pod = object as unknown as Pod
  pod.spec ??= {}
  return pod.spec
}

const tolerationSeconds = 300
const awayTaints = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']

/** Pods stay five minutes on a node that went away, unless they say otherwise. */
export const defaultTolerations: AdmissionPlugin = {
  name: 'DefaultTolerationSeconds',
  mutate({ operation, resource, subresource, object }) {
    // An update that leaves them out means the same pod.
    if (operation === 'DELETE' || resource.storage !== 'pods' || subresource !== '') return
    const spec = podSpecOf(object)
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
    if (!isNew(operation, resource.storage, subresource, 'nodes')) return
    const node = object as unknown as Node
    node.spec ??= {}
    const key = 'node.kubernetes.io/not-ready'
    if (!node.spec.taints?.some(taint => taint.key === key && taint.effect === 'NoSchedule'))
      node.spec.taints = [...(node.spec.taints ?? []), { key, effect: 'NoSchedule' }]
  },
}
