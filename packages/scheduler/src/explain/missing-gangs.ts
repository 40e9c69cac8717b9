// SPDX-License-Identifier: Apache-2.0
import { compareByName } from '../snapshot/pods.ts'
import type { MissingGang, Snapshot, SnapshotPod } from '../types.ts'
import { catalogue, messageOf } from './catalogue.ts'

/** Explains pods that name a PodGang that does not exist: one entry for each missing PodGang. */
export function missingGangs({ strayPods, nodes }: Snapshot, now: number): MissingGang[] {
  const byGang = new Map<string, { namespace: string; name: string; pods: SnapshotPod[] }>()
  for (const pod of strayPods) {
    const name = pod.gang ?? ''
    const key = `${pod.namespace}/${name}`
    const known = byGang.get(key)
    if (known) known.pods.push(pod)
    else byGang.set(key, { namespace: pod.namespace, name, pods: [pod] })
  }
  return [...byGang.values()].sort(compareByName).map(({ namespace, name, pods }) => {
    const oldest = Math.min(...pods.map(({ createdAt }) => createdAt || now))
    return {
      namespace,
      name,
      pods: pods.map(pod => pod.name),
      explanation: {
        code: 'PodGangNotFound',
        tier: catalogue.PodGangNotFound.tier,
        message: messageOf('PodGangNotFound', { name, n: pods.length }),
        provenance: 'proved',
        steps: 0,
        evidence: {
          domains: [],
          domainsTried: 0,
          nodes: {
            total: nodes.length,
            eligible: 0,
            excluded: {
              cordon: 0,
              taint: 0,
              selector: 0,
              resources: 0,
              ports: 0,
              affinity: 0,
              volume: 0,
              claim: 0,
            },
          },
          groups: [],
          holders: [],
        },
        fixes: [],
        since: new Date(oldest).toISOString(),
        waitsFor: { kind: 'PodGang', namespace, name },
      },
    }
  })
}
