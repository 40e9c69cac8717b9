// SPDX-License-Identifier: Apache-2.0

import { type CliqueTemplate, label, type PodCliqueSet } from '@grove/api'

const namespace = 'rehearsal'

/** One standalone clique and one group, so that every controller has its part. */
export function warmUpSet(name: string): PodCliqueSet {
  const clique = (role: string): CliqueTemplate => ({
    name: role,
    spec: {
      roleName: role,
      replicas: 5,
      minAvailable: 5,
      podSpec: { containers: [{ name: 'main', image: 'none' }] },
    },
  })
  return {
    apiVersion: 'grove.io/v1alpha1',
    kind: 'PodCliqueSet',
    // One of the schedulers does nothing without a queue.
    metadata: { name, namespace, labels: { [label.kaiQueue]: 'rehearsal' } },
    spec: {
      replicas: 1,
      template: {
        cliques: [clique('alone'), clique('member')],
        podCliqueScalingGroups: [{ name: 'group', cliqueNames: ['member'], replicas: 1, minAvailable: 1 }],
        terminationDelay: '4h',
      },
    },
  }
}
