// SPDX-License-Identifier: Apache-2.0

// A set is prepared for the Go operator, and taken over again. Neither restarts a pod.
import assert from 'node:assert/strict'
import {
  hashAlgorithmOf,
  label,
  legacyGenerationHash,
  legacyPodTemplateHash,
  type PodCliqueSet,
} from '@grove/api'
import type { KubeObject, Resource } from '@grove/kube'
import { type HandbackPatch, planHandback, resources } from '@grove/operator'
import type { Harness } from '../harness.ts'
import { foreignNames } from '../predecessor.ts'
import type { Scenario } from '../scenario.ts'
import { grouped } from './manifests.ts'
import { editCliques, uids, untilUpdated, withImage } from './updates.ts'

const name = 'grouped'
const resourceOf = {
  PodCliqueSet: resources.podCliqueSets,
  PodCliqueScalingGroup: resources.podCliqueScalingGroups,
  PodClique: resources.podCliques,
  Pod: resources.pods,
} as const

export const handbackScenarios: Scenario[] = [
  {
    name: 'a set that is handed back has the hashes of the Go operator, and is taken over again without a restart',
    async run(harness) {
      await harness.apply(grouped)
      await harness.untilReady(name, 10)
      await editCliques(harness, name, withImage('router', 'registry.example/router:2'))
      await untilUpdated(harness, name)
      const before = await harness.untilReady(name, 10)
      await harness.untilAvailable(name, 1)
      await harness.untilQuiet()
      await harness.stopOperator()
      const patches = await plannedPatches(harness)
      for (const patch of patches) await send(harness, patch)
      await hasHashesOfTheGoOperator(harness)
      assert.deepEqual(await plannedPatches(harness), [], 'a second handback changes nothing')
      await harness.startOperator()
      await harness.until(
        'every hash to be one of this operator',
        () => foreignNames(harness, name),
        names => names.length === 0,
      )
      assert.deepEqual(uids(await harness.pods(name)), uids(before))
    },
  },
  {
    name: 'a set is not handed back during an update',
    async run(harness) {
      await harness.apply(grouped)
      await harness.untilReady(name, 10)
      await harness.untilAvailable(name, 1)
      await harness.untilQuiet()
      await harness.stopOperator()
      await editCliques(harness, name, withImage('router', 'registry.example/router:2'))
      const plan = planHandback(await objectsOf(harness))
      assert.equal(
        plan.outcome === 'blocked' && plan.reason,
        `an update of PodCliqueSet ${name} is in progress; let it finish`,
      )
      await harness.startOperator()
      await untilUpdated(harness, name)
    },
  },
]

async function objectsOf(harness: Harness) {
  const set: PodCliqueSet = (await harness.set(name))!
  return {
    set,
    groups: await harness.groups(name),
    cliques: await harness.cliques(name),
    pods: await harness.pods(name),
  }
}

async function plannedPatches(harness: Harness): Promise<readonly HandbackPatch[]> {
  const plan = planHandback(await objectsOf(harness))
  assert.ok(plan.outcome === 'ready')
  return plan.patches
}

async function send({ client, namespace }: Harness, patch: HandbackPatch): Promise<void> {
  await client.patch(
    resourceOf[patch.kind] as Resource<KubeObject>,
    { name: patch.name, namespace },
    { merge: patch.merge },
    patch.subresource ? { subresource: patch.subresource } : {},
  )
}

async function hasHashesOfTheGoOperator(harness: Harness): Promise<void> {
  const { set, groups, cliques, pods } = await objectsOf(harness)
  const templates = new Set(
    set.spec.template.cliques.map(clique => legacyPodTemplateHash(set.spec.template, clique)),
  )
  const generation = legacyGenerationHash(set.spec)
  for (const { metadata } of [...cliques, ...pods])
    assert.ok(templates.has(metadata.labels?.[label.podTemplateHash] ?? ''), metadata.name)
  for (const { status } of cliques) assert.ok(templates.has(status?.currentPodTemplateHash ?? ''))
  for (const { status } of [...cliques, ...groups])
    assert.equal(status?.currentPodCliqueSetGenerationHash, generation)
  assert.equal(set.status?.currentGenerationHash, generation)
  // No hash of this operator is left anywhere in labels and statuses.
  for (const { metadata, status } of [set, ...groups, ...cliques])
    for (const [hash] of JSON.stringify([metadata.labels, status]).matchAll(/z\d+-[0-9a-f]{24}/g))
      assert.fail(`${metadata.name} has ${hash} of algorithm ${hashAlgorithmOf(hash)}`)
}
