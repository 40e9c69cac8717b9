// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { label } from '@grove/api'
import { resources } from '@grove/operator'
import type { Scenario } from '../scenario.ts'

/** The template of the standalone clique has the labels of a member of group replica 1. */
const claiming = `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: claim}
spec:
  replicas: 1
  template:
    cliques:
      - name: solo
        labels:
          team: blue
          grove.io/podcliquescalinggroup: claim-0-pool
          grove.io/podcliquescalinggroup-replica-index: "1"
          grove.io/base-podgang: claim-0
        spec: {roleName: solo, replicas: 1, podSpec: {containers: [{name: main, image: registry.example/a:1}]}}
      - name: work
        spec: {roleName: work, replicas: 1, podSpec: {containers: [{name: main, image: registry.example/b:1}]}}
    podCliqueScalingGroups:
      - {name: pool, cliqueNames: [work], replicas: 2, minAvailable: 1}
`

export const reservedLabelScenarios: Scenario[] = [
  {
    name: 'a clique template cannot claim membership of a scaling group with labels',
    async run(harness) {
      await harness.apply(claiming)
      const before = await harness.untilReady('claim', 3)
      const solo = before.find(pod => pod.metadata.labels?.[label.podClique] === 'claim-0-solo')
      assert.equal(solo?.metadata.labels?.team, 'blue')
      for (const key of [label.scalingGroup, label.scalingGroupReplicaIndex, label.basePodGang])
        assert.equal(solo?.metadata.labels?.[key], undefined, key)
      // The group replica with that number is removed, and the clique stays.
      await harness.scale(resources.podCliqueScalingGroups, 'claim-0-pool', 1)
      const after = await harness.untilReady('claim', 2)
      assert.ok(after.some(pod => pod.metadata.uid === solo?.metadata.uid))
      const { status } = (await harness.set('claim'))!
      assert.deepEqual(status?.lastErrors ?? [], [])
    },
  },
]
