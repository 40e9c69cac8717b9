// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { label, managedLabels, podSelector } from './labels.ts'
import { names } from './names.ts'

test('objects of a set are named after the set, its replica and their template', () => {
  const group = names.scalingGroup('simple1', 0, 'sga')
  const table: [string, string][] = [
    [names.replica('simple1', 0), 'simple1-0'],
    [names.headlessServiceAddress('simple1', 0, 'demo', 'cluster.local'), 'simple1-0.demo.svc.cluster.local'],
    [group, 'simple1-0-sga'],
    [names.standaloneClique('simple1', 0, 'frontend'), 'simple1-0-frontend'],
    [names.memberClique(group, 1, 'worker'), 'simple1-0-sga-1-worker'],
    [names.podHostname(names.memberClique(group, 1, 'worker'), 2), 'simple1-0-sga-1-worker-2'],
    [names.basePodGang('simple1', 0), 'simple1-0'],
    [names.serviceAccount('simple1'), 'simple1'],
    [names.podRole('simple1'), 'grove.io:pcs:simple1'],
    [names.podRoleLabel('simple1'), 'grove.io-pcs-simple1'],
    [names.tokenSecret('simple1'), 'simple1-ic-sat'],
    [names.computeDomain('simple1', 0, 'workers'), 'simple1-0-workers'],
    [names.claimForAllReplicas('simple1', 'gpu-mps'), 'simple1-all-gpu-mps'],
    [names.claimPerReplica(group, 1, 'shm'), 'simple1-0-sga-1-shm'],
  ]
  for (const [made, wanted] of table) assert.equal(made, wanted)
})

test('a pod uses the name of a shared claim if that is a DNS label, and a short one otherwise', () => {
  const longest = 'c'.repeat(63)
  assert.equal(names.claimInPod(longest), longest)
  const long = names.claimInPod(`${longest}x`)
  assert.match(long, /^c{54}-[0-9a-f]{8}$/)
  assert.equal(long, names.claimInPod(`${longest}x`))
  assert.notEqual(long, names.claimInPod(`${longest}y`))
  assert.match(names.claimInPod('w-all-gpu.example.com'), /^w-all-gpu-example-com-[0-9a-f]{8}$/)
})

test('scaled gangs are numbered from the first group replica above minAvailable', () => {
  assert.equal(names.scaledPodGang('simple1-0-sga', 1, 1), 'simple1-0-sga-0')
  assert.equal(names.scaledPodGang('simple1-0-sga', 2, 1), 'simple1-0-sga-1')
  assert.equal(names.scaledPodGang('simple1-0-sga', 3, 3), 'simple1-0-sga-0')
})

test('selectors for autoscalers contain manager, set and the unit, in that order', () => {
  const base = 'app.kubernetes.io/managed-by=grove-operator,app.kubernetes.io/part-of=simple1'
  assert.equal(podSelector.ofSet('simple1'), base)
  assert.equal(podSelector.ofClique('simple1', 'simple1-0-a'), `${base},grove.io/podclique=simple1-0-a`)
  assert.equal(
    podSelector.ofScalingGroup('simple1', 'simple1-0-g'),
    `${base},grove.io/podcliquescalinggroup=simple1-0-g`,
  )
  assert.equal(managedLabels('simple1')[label.partOf], 'simple1')
})
