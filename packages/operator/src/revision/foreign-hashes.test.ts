// SPDX-License-Identifier: Apache-2.0

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formerGenerationHash, legacyPodTemplateHash, type PodClique, type PodGang } from '@grove/api'
import { memberCliques, scalingGroups, standaloneCliques } from '../layout/layout.ts'
import type { StoredSet } from '../layout/stored.ts'
import { podClique } from '../objects/clique.ts'
import { isToBeRelabelled } from '../ownership/take-over.ts'
import { clique, group, sampleSet } from '../testing/sample-set.ts'
import { isWantedGeneration } from './foreign-hashes.ts'
import { hasReachedGeneration, isConverged } from './revision.ts'
import { revisionOf } from './set-revision.ts'

const set = () =>
  sampleSet({
    cliques: [clique('router', { replicas: 2 }), clique('lead'), clique('work', { replicas: 3 })],
    groups: [group('eng', ['lead', 'work'], 2)],
  })

/** A clique that another operator wrote for this set: same content, different hash. */
function written(of: StoredSet, name: string, hash: string, generation?: string): PodClique {
  const instances = [
    ...standaloneCliques(of, 0),
    ...scalingGroups(of, 0).flatMap(one => [0, 1].flatMap(replica => memberCliques(of, one, replica))),
  ]
  const made = podClique(of, instances.find(instance => instance.name === name)!, of, hash)
  const status = {
    readyReplicas: 0,
    updatedReplicas: 0,
    scheduleGatedReplicas: 0,
    scheduledReplicas: 0,
    ...(generation && { currentPodCliqueSetGenerationHash: generation }),
  }
  return structuredClone({ ...made, status })
}

const foreign = ['5b9ff989d9bc68f86899', 'z0-0123456789abcdef01234567', 'z9-something-new', '']

for (const hash of foreign)
  test(`a clique of the wanted template is current under the hash "${hash}", and so are pods with that hash`, () => {
    const revision = revisionOf(set())
    assert.ok(revision.isCurrent(written(set(), 'w-0-router', hash), hash))
    assert.ok(revision.isCurrent(written(set(), 'w-0-eng-1-work', hash), hash))
    assert.equal(revision.isCurrent(written(set(), 'w-0-router', hash), 'z0-of-another-template'), false)
  })

test('a template that was reordered, defaulted or normalized by the API server is still the wanted template', () => {
  const made = written(set(), 'w-0-router', 'z0-a')
  made.spec.podSpec.dnsPolicy = 'ClusterFirst'
  made.spec.podSpec.containers[0]!.imagePullPolicy = 'IfNotPresent'
  made.spec.podSpec.containers[0]!.resources = {}
  made.spec.replicas = 17
  made.metadata.labels!['app.kubernetes.io/component'] = 'called-otherwise'
  assert.ok(revisionOf(set()).isCurrent(made, 'z0-a'))
})

test('the number of pods of a group replica is not part of the template', () => {
  const made = written(set(), 'w-0-eng-0-lead', 'z0-a')
  const scaled = set()
  scaled.spec.template.cliques.find(({ name }) => name === 'work')!.spec.replicas = 9
  assert.ok(revisionOf(scaled).isCurrent(made, 'z0-a'))
})

const changes: Record<string, (made: PodClique) => void> = {
  image: made => {
    made.spec.podSpec.containers[0]!.image = 'registry.example/main:2'
  },
  label: made => {
    made.metadata.labels = { ...made.metadata.labels, team: 'a' }
  },
  annotation: made => {
    made.metadata.annotations = { note: 'x' }
  },
}
for (const [what, change] of Object.entries(changes))
  test(`another ${what} is another template`, () => {
    const made = written(set(), 'w-0-router', 'z0-a')
    change(made)
    assert.equal(revisionOf(set()).isCurrent(made, 'z0-a'), false)
  })

test('hashes of this operator are compared only by value, never by content', () => {
  const ours = 'z1-0123456789abcdef01234567'
  assert.equal(revisionOf(set()).isCurrent(written(set(), 'w-0-router', ours), ours), false)
})

test('recognizes the exact hash of the older operator, whatever the content of the clique', () => {
  const { template } = set().spec
  const legacy = legacyPodTemplateHash(template, template.cliques[0]!)
  const made = written(set(), 'w-0-router', 'anything')
  made.spec.podSpec.containers[0]!.image = 'registry.example/main:2'
  assert.ok(revisionOf(set()).isCurrent(made, legacy))
})

const noGangs = () => undefined
const stored = 'b6cddf57c4857cbf48c'

test('a generation is the wanted one if all children that reached it have the wanted template', () => {
  const cliques = [
    written(set(), 'w-0-router', 'z0-a', stored),
    written(set(), 'w-0-eng-0-work', 'z0-b', stored),
  ]
  assert.ok(isWantedGeneration(set(), stored, { cliques, gangNamed: noGangs }))
  cliques[1]!.spec.podSpec.containers[0]!.image = 'registry.example/main:2'
  assert.equal(isWantedGeneration(set(), stored, { cliques, gangNamed: noGangs }), false)
  // A child that has not reached the generation says nothing about it.
  cliques[1]!.status!.currentPodCliqueSetGenerationHash = '549bd8894c68884475d7'
  assert.ok(isWantedGeneration(set(), stored, { cliques, gangNamed: noGangs }))
})

test('a generation that no child has reached is compared with the standalone cliques only', () => {
  const router = written(set(), 'w-0-router', 'z0-a')
  const work = written(set(), 'w-0-eng-0-work', 'z0-b')
  assert.ok(isWantedGeneration(set(), stored, { cliques: [router, work], gangNamed: noGangs }))
  assert.equal(isWantedGeneration(set(), stored, { cliques: [work], gangNamed: noGangs }), false)
  router.spec.podSpec.containers[0]!.image = 'registry.example/main:2'
  assert.equal(isWantedGeneration(set(), stored, { cliques: [router, work], gangNamed: noGangs }), false)
})

test('a set without cliques has no pods to restart, whatever its status contains', () => {
  assert.ok(isWantedGeneration(set(), stored, { cliques: [], gangNamed: noGangs }))
})

test('a different priority class of the gangs is a different generation', () => {
  const cliques = [written(set(), 'w-0-router', 'z0-a', stored)]
  const gang = (priorityClassName?: string) => () =>
    ({ spec: { podgroups: [], ...(priorityClassName && { priorityClassName }) } }) as unknown as PodGang
  assert.ok(isWantedGeneration(set(), stored, { cliques, gangNamed: gang() }))
  assert.equal(isWantedGeneration(set(), stored, { cliques, gangNamed: gang('urgent') }), false)
})

// Releases before z2 stored generation hashes as z1, without the startup type. Template hashes still are z1.
const former = () => formerGenerationHash(set().spec)
const withImage = (image: string) => {
  const of = set()
  of.spec.template.cliques[0]!.spec.podSpec.containers[0]!.image = image
  return of
}

test('recognizes the z1 hash of a generation, even if the startup type is not the default', () => {
  for (const startup of ['CliqueStartupTypeInOrder', 'CliqueStartupTypeExplicit'] as const) {
    const of = sampleSet({ startup, cliques: [clique('a'), clique('b')] })
    const revision = revisionOf(of)
    const cliques = [written(of, 'w-0-a', 'anything')]
    assert.notEqual(formerGenerationHash(of.spec), revision.generationHash)
    assert.ok(revision.isCurrentGeneration(formerGenerationHash(of.spec), { cliques, gangNamed: noGangs }))
  }
})

test('a z1 hash of another generation is never compared by content', () => {
  const cliques = [written(set(), 'w-0-router', 'z0-a', former())]
  const revision = revisionOf(withImage('registry.example/main:2'))
  assert.equal(revision.isCurrentGeneration(former(), { cliques, gangNamed: noGangs }), false)
  const strange = 'z1-0123456789abcdef01234567'
  assert.equal(revisionOf(set()).isCurrentGeneration(strange, { cliques: [], gangNamed: noGangs }), false)
})

test('a child whose status has the z1 hash of the wanted generation has reached it', () => {
  const revision = revisionOf(set())
  assert.ok(hasReachedGeneration(former(), revision))
  assert.equal(hasReachedGeneration(former(), revisionOf(withImage('registry.example/main:2'))), false)
  assert.equal(hasReachedGeneration(undefined, revision), false)
  const hash = revision.templateHashes.router!
  const router = written(set(), 'w-0-router', hash, former())
  Object.assign(router.status!, { currentPodTemplateHash: hash, updatedReplicas: 2, readyReplicas: 2 })
  assert.ok(isConverged(router, revision))
})

test('progress towards the wanted generation continues under its new hash, and keeps its template hash', () => {
  const revision = revisionOf(set())
  const router = written(set(), 'w-0-router', revision.templateHashes.router!)
  const podTemplateHash = revision.templateHashes.router!
  const progress = { podCliqueSetGenerationHash: former(), podTemplateHash, updateStartedAt: 'then' }
  assert.deepEqual(revision.renamed(progress, router), {
    ...progress,
    podCliqueSetGenerationHash: revision.generationHash,
  })
  const elsewhere = { ...progress, podCliqueSetGenerationHash: 'z1-0123456789abcdef01234567' }
  assert.equal(revision.renamed(elsewhere, router), elsewhere)
})

test('keeps z1 hashes of pod templates: relabels no pod and no clique', () => {
  const revision = revisionOf(set())
  for (const hash of Object.values(revision.templateHashes)) assert.match(hash, /^z1-/)
  const router = written(set(), 'w-0-router', revision.templateHashes.router!)
  assert.equal(isToBeRelabelled(set(), router), false)
})
