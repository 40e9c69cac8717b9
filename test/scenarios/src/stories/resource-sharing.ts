// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { label, type ResourceClaim } from '@grove/api'
import type { Stored } from '@grove/kube'
import { resources } from '@grove/operator'
import type { Stage } from '../stage.ts'
import type { Story } from '../story.ts'

const template = (name: string) => `
      - {name: ${name}, templateSpec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com}}]}}}}`

/** Shared devices at every level: set, scaling group and clique; for all replicas and per replica. */
const sharing = `
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: {name: share}
spec:
  replicas: 1
  template:
    resourceClaimTemplates:${['u1', 'u2', 'u3', 'u4', 'u5', 'u6', 'u7', 'u8'].map(template).join('')}
    resourceSharing:
      - {name: u1, scope: AllReplicas}
      - {name: u2, scope: PerReplica, filter: {childCliqueNames: [wa]}}
      - {name: u3, scope: AllReplicas, filter: {childScalingGroupNames: [sg]}}
    cliques:
      - name: wa
        resourceSharing: [{name: u4, scope: PerReplica}]
        spec:
          roleName: wa
          replicas: 1
          podSpec: {containers: [{name: main, image: registry.example/a:1}]}
      - name: wb
        resourceSharing: [{name: u8, scope: AllReplicas}]
        spec:
          roleName: wb
          replicas: 1
          podSpec: {containers: [{name: main, image: registry.example/b:1}]}
    podCliqueScalingGroups:
      - name: sg
        cliqueNames: [wb]
        replicas: 2
        resourceSharing:
          - {name: u5, scope: AllReplicas}
          - {name: u6, scope: PerReplica}
          - {name: u7, scope: AllReplicas, filter: {childCliqueNames: [wb]}}
`

async function claims(stage: Stage): Promise<Stored<ResourceClaim>[]> {
  return stage.list(resources.resourceClaims, 'share')
}

async function untilClaims(stage: Stage, count: number): Promise<string[]> {
  const found = await stage.until(
    `${count} claims`,
    () => claims(stage),
    all => all.length === count,
  )
  return found.map(claim => claim.metadata.name).sort()
}

export const resourceSharingStories: Story[] = [
  {
    name: 'shared claims follow every scale-out and scale-in, at every level',
    async tell(stage) {
      await stage.apply(sharing)
      assert.deepEqual(await untilClaims(stage, 10), [
        'share-0-sg-0-u6',
        'share-0-sg-0-wb-all-u8',
        'share-0-sg-1-u6',
        'share-0-sg-1-wb-all-u8',
        'share-0-sg-all-u5',
        'share-0-sg-all-u7',
        'share-0-u2',
        'share-0-wa-0-u4',
        'share-all-u1',
        'share-all-u3',
      ])
      const pods = await stage.until(
        'its pods',
        () => stage.pods('share'),
        all => all.length === 3,
      )
      const names = (clique: string) =>
        pods
          .find(pod => pod.metadata.labels?.[label.podClique] === clique)!
          .spec!.resourceClaims!.map(claim => claim.resourceClaimName)
      assert.deepEqual(names('share-0-wa'), ['share-all-u1', 'share-0-u2', 'share-0-wa-0-u4'])
      assert.deepEqual(names('share-0-sg-1-wb'), [
        'share-all-u1',
        'share-all-u3',
        'share-0-sg-all-u5',
        'share-0-sg-all-u7',
        'share-0-sg-1-u6',
        'share-0-sg-1-wb-all-u8',
      ])
      await stage.scale(resources.podCliqueScalingGroups, 'share-0-sg', 1)
      await untilClaims(stage, 8)
      await stage.scale(resources.podCliqueScalingGroups, 'share-0-sg', 3)
      await untilClaims(stage, 12)
      await stage.scale(resources.podCliques, 'share-0-wa', 2)
      assert.ok((await untilClaims(stage, 13)).includes('share-0-wa-1-u4'))
      await stage.scale(resources.podCliques, 'share-0-wa', 1)
      await untilClaims(stage, 12)
      await stage.scale(resources.podCliqueSets, 'share', 2)
      await untilClaims(stage, 20)
      await stage.scale(resources.podCliqueSets, 'share', 1)
      await untilClaims(stage, 12)
      await stage.deleteSet('share')
      await untilClaims(stage, 0)
    },
  },
]
