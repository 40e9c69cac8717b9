// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { label } from '@grove/api'
import { isReady } from '../stage.ts'
import type { Story } from '../story.ts'

const ordered = `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: ordered}
spec:
  replicas: 1
  template:
    cliqueStartupType: CliqueStartupTypeInOrder
    cliques:
      - name: first
        annotations: {simulate.grove.io/start-delay: 200ms}
        spec:
          roleName: first
          replicas: 2
          podSpec: {containers: [{name: main, image: registry.example/a:1}]}
      - name: second
        spec:
          roleName: second
          replicas: 1
          podSpec: {containers: [{name: main, image: registry.example/b:1}]}
      - name: third
        spec:
          roleName: third
          replicas: 2
          podSpec: {containers: [{name: main, image: registry.example/c:1}]}
`

/** They need a kubelet that runs the waiter: told where there is one. */
export const startupOrderStories: Story[] = [
  {
    name: 'no pod is ready before the clique that it starts after',
    async tell(stage) {
      await stage.apply(ordered)
      const cliques = ['ordered-0-first', 'ordered-0-second', 'ordered-0-third']
      await stage.until(
        'all pods to be ready',
        async () => {
          const pods = await stage.pods('ordered')
          const ready = cliques.map(
            clique =>
              pods.filter(pod => pod.metadata.labels?.[label.podClique] === clique && isReady(pod)).length,
          )
          assert.ok(ready[1] === 0 || ready[0] === 2, `second was ready with ${ready[0]} of 2 pods of first`)
          assert.ok(ready[2] === 0 || ready[1] === 1, `third was ready with ${ready[1]} of 1 pods of second`)
          return ready
        },
        ready => ready.join() === '2,1,2',
      )
    },
  },
]
