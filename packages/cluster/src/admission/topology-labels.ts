// SPDX-License-Identifier: Apache-2.0

import { storages } from '../registry/storages.ts'
import type { Pod } from '../schema/types.generated.ts'
import type { AdmissionPlugin } from '../server/admission.ts'
import { objectIn, type Store } from '../store/index.ts'

const copied = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region']

/** Labels a pod with zone and region of its node, so that its containers can read them. Replaces such labels. */
export function labelTopology(pod: Pod, store: Store): void {
  const labels = store.get(storages.nodes, pod.spec?.nodeName ?? '')?.metadata.labels ?? {}
  const found = copied.filter(key => labels[key] !== undefined).map(key => [key, labels[key]!] as const)
  if (found.length === 0) return
  pod.metadata ??= {}
  pod.metadata.labels = { ...pod.metadata.labels, ...Object.fromEntries(found) }
}

/** For pods that are created with a node. `pods/binding` labels all others. */
export const topologyLabels: AdmissionPlugin = {
  name: 'PodTopologyLabels',
  mutate({ operation, resource, subresource, object }, { store }) {
    const pod = objectIn(storages.pods, object, resource.storage)
    if (operation === 'CREATE' && subresource === '' && pod?.spec?.nodeName) labelTopology(pod, store)
  },
}
